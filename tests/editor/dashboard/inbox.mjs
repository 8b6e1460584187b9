/** The inbox: what agents tell the person, and the answers. */

import assert from "node:assert/strict";
import { until } from "../waiting.mjs";

const QUESTION = "May I move the lighthouse?";

function tell({ call }, senderId, message) {
  call("threadline/messages/send", { targetId: "user", senderId, ...message });
}

/** What the person has done with it, as its sender sees it. */
function handling({ call }, senderId, subject) {
  const params = { agentId: senderId, sent: true, status: "all", limit: 100 };
  const { messages } = call("threadline/messages/read", params);
  return messages.find((one) => one.subject === subject)?.handlings.user;
}

function row({ page }, name) {
  return page.getByRole("list", { name: "Conversations" }).getByRole("button", { name });
}

function badge({ page }) {
  return page.getByRole("navigation", { name: "Pages" }).locator(".badge");
}

export const inbox = [
  ["teaches what messages are for", async ({ visit, sees }) => {
    await visit("inbox");
    await sees("No messages yet.");
  }],
  ["counts what waits on every page, as it comes", async (scene) => {
    await scene.visit("sessions");
    const content = "It stands in the way.\n\nThe crane could lift it.";
    tell(scene, "codex", { subject: QUESTION, content, category: "request", priority: 5 });
    tell(scene, "cursor", { subject: "Fog until noon", content: "All ships wait." });
    await until("both are counted", async () => /^2/.test(await badge(scene).innerText()));
  }],
  ["lists messages without reading them", async (scene) => {
    await scene.visit("inbox");
    await row(scene, QUESTION).getByText("urgent").waitFor();
    await row(scene, QUESTION).getByText("request").waitFor();
    assert.match(await scene.page.locator(".thread-row").first().innerText(), /Fog until noon/);
    assert.equal(handling(scene, "codex", QUESTION), undefined);
  }],
  ["reads a message when it is opened, and its sender sees that", async (scene) => {
    await row(scene, QUESTION).click();
    await scene.page.getByText("The crane could lift it.").last().waitFor();
    await until("it is read", () => handling(scene, "codex", QUESTION));
    assert.equal(handling(scene, "codex", QUESTION).acknowledgedAt, null);
    assert.equal(handling(scene, "cursor", "Fog until noon"), undefined);
    await scene.photograph("inbox");
  }],
  ["answers, which deals with the message", async (scene) => {
    const { page, call } = scene;
    await page.getByRole("textbox", { name: "Reply to Codex" }).fill("Yes, but at low tide");
    await page.keyboard.press("Control+Enter");
    await until("it is dealt with", () => handling(scene, "codex", QUESTION)?.acknowledgedAt);
    await until("one waits", async () => /^1/.test(await badge(scene).innerText()));
    await page.getByText("Not read yet").waitFor();
    const { messages } = call("threadline/messages/read", { agentId: "codex" });
    assert.deepEqual(
      messages.map(({ content, subject, senderId }) => [content, subject, senderId]),
      [["Yes, but at low tide", QUESTION, "user"]],
    );
    await page.getByText("Read by Codex").waitFor();
  }],
  ["acknowledges without an answer", async (scene) => {
    const { page } = scene;
    await row(scene, "Fog until noon").click();
    await page.getByRole("button", { name: "Acknowledge" }).click();
    await until("it is dealt with", () => handling(scene, "cursor", "Fog until noon")?.acknowledgedAt);
    await badge(scene).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Acknowledge" }).waitFor({ state: "detached" });
    assert.equal(await page.locator(":focus").getAttribute("aria-label"), "Reply to Cursor");
  }],
  ["sends a message to an agent and to all", async (scene) => {
    const { page, call } = scene;
    const write = async (target, words) => {
      await page.getByRole("button", { name: "New Message" }).click();
      const form = page.getByRole("form", { name: "New message" });
      await form.getByLabel("To").selectOption(target);
      await form.getByLabel("Subject").fill(words);
      await form.getByLabel("Message").fill(`${words}!`);
      await form.getByRole("button", { name: "Send" }).click();
      await form.waitFor({ state: "detached" });
    };
    await write("codex", "Well moved");
    await write("*", "Low water at four");
    await row(scene, "Low water at four").waitFor();
    const { messages } = call("threadline/messages/read", { agentId: "codex" });
    assert.deepEqual(
      messages.map(({ subject }) => subject).sort(),
      ["Low water at four", "Well moved"],
    );
  }],
  ["fits into a narrow window, one conversation at a time", async (scene) => {
    const { page } = scene;
    await page.setViewportSize({ width: 320, height: 800 });
    await page.getByRole("button", { name: "All Messages" }).click();
    await row(scene, "Well moved").click();
    await page.getByText("Well moved!").last().waitFor();
    await row(scene, "Well moved").waitFor({ state: "hidden" });
    await scene.photograph("inbox-narrow");
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    await page.setViewportSize({ width: 1280, height: 800 });
  }],
];
