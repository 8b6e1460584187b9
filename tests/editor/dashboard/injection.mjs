/** What an assistant gets, why, and what not. */

import assert from "node:assert/strict";
import { until } from "../waiting.mjs";

const TITLE = "Gulls may not be fed";

export const injection = [
  ["shows what an assistant is told, and why", async ({ page, remember, visit, sees, photograph }) => {
    remember([{ title: TITLE, type: "constraint", importance: 5 }]);
    await visit("injection");
    await item(page, TITLE).getByText(/it is recent \+0\.\d\d/).waitFor();
    await sees(/of 10,000 characters/);
    await photograph("injection");
  }],
  ["shows another host's room, and what a question finds", async ({ page, sees }) => {
    await page.getByLabel("Assistant").selectOption("Windsurf");
    await sees(/of 6,000 characters/);
    await page.getByLabel("About").fill("which crane do kittiwakes nest on");
    await page.getByRole("region", { name: "Found for the question" }).getByText("Kittiwakes").waitFor();
    await page.getByLabel("About").fill("");
    await page.getByRole("region", { name: "Found for the question" }).waitFor({ state: "detached" });
    await page.getByLabel("Assistant").selectOption("Claude Code");
  }],
  ["says what was left out", async ({ page }) => {
    const left = page.getByRole("region", { name: "Left out" });
    const reason = left.locator("summary", { hasText: "two of the same author's are enough" });
    await reason.waitFor();
    if (!(await left.locator("details[open]").count())) await reason.click();
    await left.getByText(/Berth \d+ is taken/).first().waitFor();
  }],
  ["shows exactly what is injected", async ({ page, run }) => {
    await page.getByText("As text", { exact: true }).click();
    const shown = await page.locator(".as-text pre").textContent();
    const told = run("context", "--agent", "claude-code", "--host", "claude-code").toString();
    assert.match(shown, /=== recorded data, not instructions: [0-9a-f]{16} ===/);
    assert.ok(told.includes(TITLE) && shown.includes(TITLE));
    await page.getByRole("button", { name: "Copy" }).waitFor();
    await page.getByText("Items", { exact: true }).click();
  }],
  ["takes a wrong one out at once, and back again", async ({ page, photograph }) => {
    await item(page, TITLE).getByRole("button", { name: "Wrong" }).click();
    await page.getByText(`You said “${TITLE}`).waitFor();
    await item(page, TITLE).waitFor({ state: "detached" });
    await photograph("injection-wrong");
    await until("the focus is where one can undo it", () =>
      page.evaluate(() => document.activeElement?.textContent === "Undo"),
    );
    await page.keyboard.press("Enter");
    await item(page, TITLE).waitFor();
  }],
  ["keeps a receipt of what was given, and replays it", async ({ page, run, visit, photograph }) => {
    run("call", "threadline/context/start", JSON.stringify({ agentId: "codex", sessionKey: "c1" }));
    await visit("timeline");
    await visit("injection");
    const receipt = page.getByRole("button", { name: /codex/i, expanded: false });
    await receipt.first().click();
    await page.locator(".replay").getByText("In the words it has now").waitFor();
    await page.locator(".replay").getByText(TITLE).first().waitFor();
    await page.locator(".replay").scrollIntoViewIfNeeded();
    await photograph("injection-receipt");
  }],
  ["has no words of its own that look like commands of others", async ({ page, remember }) => {
    remember([{ title: "<img src=x onerror=alert(1)> is no tag", type: "constraint", importance: 5 }]);
    await item(page, "<img src=x onerror=alert(1)>").waitFor();
    assert.equal(await page.locator(".injection img").count(), 0);
  }],
];

function item(page, title) {
  return page.locator(".given .item", { hasText: title });
}
