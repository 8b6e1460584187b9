// Debian's chromium, driven without a window.

import { chromium } from "playwright-core";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A page of a new browser; `page.context().browser().close()` ends it. */
export async function openPage() {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ARGS,
    // Pictures show what people see.
    ignoreDefaultArgs: ["--hide-scrollbars"],
  });
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  return page;
}

/** Make the workbench believe that it is another product, before it reads who it is. */
export async function pretend(page, product) {
  await page.addInitScript((names) => {
    const id = "vscode-workbench-web-configuration";
    const original = Document.prototype.getElementById;
    Document.prototype.getElementById = function (wanted) {
      const element = original.call(this, wanted);
      if (wanted === id && element && !element.dataset.patched) {
        const settings = JSON.parse(element.getAttribute("data-settings"));
        settings.productConfiguration = { ...settings.productConfiguration, ...names };
        element.setAttribute("data-settings", JSON.stringify(settings));
        element.dataset.patched = "1";
      }
      return element;
    };
  }, product);
}
