/** The picture of the last weeks. */

import assert from "node:assert/strict";
import { until } from "../waiting.mjs";

export const timeline = [
  ["draws the last weeks with a line for each day", async ({ page, visit, photograph }) => {
    await visit("timeline");
    await page.locator(".block").first().waitFor();
    assert.equal(await page.locator(".row").count(), 28);
    await page.getByRole("list", { name: "Days, the latest first" }).waitFor();
    await page.locator(".row.today .now").waitFor();
    await photograph("timeline");
  }],
  ["says what a block is, to the eye and to the ear", async ({ page }) => {
    const block = page.getByRole("link", { name: /Today .* commits/ }).first();
    await block.focus();
    const card = page.locator(".timeline-card");
    await card.getByText("Never sign an upload twice").first().waitFor();
    await page.keyboard.press("Escape");
    await card.waitFor({ state: "detached" });
  }],
  ["shows a commit while one looks", async ({ page, workspace }) => {
    const told = page.locator(".totals div", { hasText: "commits" }).locator("dd");
    const before = Number(await told.textContent());
    await until("the commit is drawn", async () => {
      workspace.write("src/tide.py", `${Math.random()}\n`);
      workspace.commit("Turn with the tide");
      return until("it is counted", async () => Number(await told.textContent()) > before).then(
        () => true,
        () => false,
      );
    });
  }],
  ["shows more weeks by keyboard, and those before", async ({ page, photograph }) => {
    await page.getByRole("radio", { name: "4 weeks" }).focus();
    await page.keyboard.press("ArrowRight");
    await until("twelve weeks are drawn", async () => (await page.locator(".row").count()) === 84);
    await photograph("timeline-12");
    await page.getByRole("button", { name: "Earlier" }).click();
    await page.getByText("Nothing happened in these 12 weeks.").waitFor();
    await page.getByRole("button", { name: "Today" }).click();
    await page.locator(".row.today").waitFor();
    await page.getByText("4 weeks").click();
  }],
  ["fits into a narrow place", async ({ page, photograph }) => {
    await page.setViewportSize({ width: 320, height: 700 });
    const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(isWide, false);
    await photograph("timeline-narrow");
    await page.setViewportSize({ width: 1280, height: 860 });
  }],
  ["leads from a block to its session", async ({ page }) => {
    await page.locator(".row.today .block").first().click();
    await page.waitForURL(/#\/session\//);
  }],
];
