// VS Code's window as a person uses it: by keyboard, and by what can be read on the screen.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openPage, pretend } from "./browsers.mjs";
import { until } from "./waiting.mjs";

export class Workbench {
  constructor(page, screenshots) {
    this.page = page;
    this.screenshots = screenshots;
    this.shots = 0;
    this.tree = page.getByRole("tree", { name: /Sessions/ });
    this.status = page.locator(".statusbar-item", { hasText: "Threadline" });
    this.welcome = page.locator(".sidebar .welcome-view");
  }

  /** With a product, the editor believes to be that one. */
  static async open(address, screenshots, product) {
    mkdirSync(screenshots, { recursive: true });
    const workbench = new Workbench(await openPage(), screenshots);
    if (product) await pretend(workbench.page, product);
    await workbench.page.addInitScript(markPages);
    await workbench.page.goto(address);
    await workbench.page.locator(".monaco-workbench").waitFor();
    return workbench;
  }

  async close() {
    await this.page.context().browser().close();
  }

  async command(name) {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget .quick-input-box input");
    await input.waitFor({ state: "visible" });
    await input.fill(`>${name}`);
    await this.choice(name).first().waitFor();
    await this.page.keyboard.press("Enter");
  }

  async chooseTheme(name) {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget .quick-input-box input");
    await input.fill(">Preferences: Color Theme");
    // Its like for themes from the marketplace comes first.
    await this.choice(/^Preferences: Color Theme/).click();
    await until("the themes are listed", async () => (await input.inputValue()) === "");
    await input.fill(name);
    await this.choice(name).click();
  }

  choice(label) {
    return this.page.locator(".quick-input-list .monaco-list-row").filter({ hasText: label });
  }

  async offers(name) {
    await this.page.keyboard.press("F1");
    await this.page.locator(".quick-input-widget .quick-input-box input").fill(`>${name}`);
    await this.choice(/Threadline|No matching|similar commands/)
      .first()
      .waitFor();
    const isOffered = (await this.choice(name).count()) > 0;
    await this.page.keyboard.press("Escape");
    return isOffered;
  }

  async showSessions() {
    await this.page.locator(".activitybar").getByRole("tab", { name: "Threadline" }).locator("a").click();
    await this.page.locator(".sidebar .title-label", { hasText: "Threadline" }).waitFor();
  }

  async openWalkthrough() {
    await this.command("Welcome: Open Walkthrough...");
    await this.choice("Get Started with Threadline").click();
    await this.step("Work as Usual").waitFor();
  }

  /** A step of the walkthrough. */
  step(title) {
    return this.page.locator(".getting-started-step", { hasText: title });
  }

  async openFile(name) {
    await this.page
      .getByRole("tab", { name: /^Explorer/ })
      .locator("a")
      .click();
    await this.page.getByRole("treeitem", { name }).dblclick();
    await this.fileTab(name).waitFor();
    await this.page.locator(".editor-group-container.active .view-lines").first().click();
  }

  async typeAndSave(text) {
    const { page } = this;
    await page.locator(".editor-group-container.active .view-lines").first().click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(text);
    await page.locator(".tab.active.dirty").waitFor();
    await page.keyboard.press("Control+s");
    await page.locator(".tab.active:not(.dirty)").waitFor();
  }

  /** The tab in front, by what is written on it. */
  tab(title) {
    return this.page.locator(".tab.active", { hasText: title });
  }

  /** The tab in front if it is that of a file: pages about it may bear its name, too. */
  fileTab(name) {
    return this.page.locator(`.tab.active[data-resource-name="${name}"]`);
  }

  /** Commit everything, as one does in the Source Control view. */
  async commit(message) {
    const { page } = this;
    await page
      .getByRole("tab", { name: /^Source Control/ })
      .locator("a")
      .first()
      .click();
    // What the editor has not noticed yet it would not commit.
    await page.locator(".scm-view .monaco-list-row .resource").first().waitFor();
    await page.locator(".scm-view .scm-input .view-lines").first().click();
    await page.keyboard.type(message);
    await page.locator(".scm-view .scm-input", { hasText: message.replaceAll(" ", "\u00a0") }).waitFor();
    await page.keyboard.press("Control+Enter");
  }

  session(text) {
    return this.tree.getByRole("treeitem", { name: text });
  }

  /** Open a row by its arrow: a click on the row itself does what the row is for. */
  async unfold(row) {
    await row.locator(".monaco-tl-twistie").click();
  }

  row(view, text) {
    return this.page.getByRole("tree", { name: view }).getByRole("treeitem", { name: text });
  }

  /** What a view in the side bar is opened and folded by. */
  header(view, isOpen) {
    return this.page.locator(`.sidebar .pane-header[aria-label^="${view}"][aria-expanded="${isOpen}"]`);
  }

  /** Press a button that a row offers. */
  async act(view, text, action) {
    await this.row(view, text).hover();
    await this.row(view, text).getByRole("button", { name: action }).click();
  }

  /** Type into the box that asks. */
  async answer(text) {
    const input = this.page.locator(".quick-input-widget .quick-input-box input");
    await until("an empty box asks", async () => (await input.inputValue()) === "");
    await input.fill(text);
    await this.page.keyboard.press("Enter");
  }

  /** The page that is shown in front, not one of those in the side bar. */
  webview() {
    return this.page
      .frameLocator('iframe.webview.ready[data-in-front] >> visible=true')
      .frameLocator("#active-frame");
  }

  notification(text) {
    return this.page.locator(".notifications-toasts .notification-list-item", { hasText: text });
  }

  async photograph(name) {
    const number = String(++this.shots).padStart(2, "0");
    await this.page.screenshot({ path: join(this.screenshots, `${number}-${name}.png`) });
  }
}

/** Mark the pages that are not in the side bar: by nothing but their place every version of the editor tells them apart. */
function markPages() {
  if (window !== top) return;
  setInterval(() => {
    const edge = document.querySelector(".part.sidebar")?.getBoundingClientRect().right ?? 0;
    for (const frame of document.querySelectorAll("iframe.webview")) {
      frame.toggleAttribute("data-in-front", frame.getBoundingClientRect().left > edge - 5);
    }
  }, 50);
}
