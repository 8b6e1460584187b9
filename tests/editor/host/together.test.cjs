// Messages and tasks from the inside.

const assert = require("node:assert/strict");
const { join } = require("node:path");
const vscode = require("vscode");

suite("working together", () => {
  let threadline;
  let until;

  suiteSetup(async () => {
    ({ until } = await import(join(__dirname, "../waiting.mjs")));
    threadline = await vscode.extensions.getExtension("threadline.threadline").activate();
    await until("the sidecar runs", () => threadline.sidecar.state.kind === "running");
  });

  const message = (what, is) =>
    until(what, async () => {
      const nodes = await threadline.inbox.getChildren();
      return nodes.find((node) => node.message && is(node.message));
    });
  const group = (tree, id) =>
    until(`the group ${id}`, async () => {
      const nodes = await tree.getChildren();
      return nodes.find((node) => tree.getTreeItem(node).id === id);
    });

  test("shows and counts what an agent tells the user, and nothing that agents tell each other", async () => {
    const send = (targetId, content) =>
      threadline.sidecar.request("threadline/messages/send", {
        senderId: "codex",
        targetId,
        content,
      });
    await send("claude-code", "for another agent");
    await send("user", "for the user");
    const node = await message("the message", ({ content }) => content === "for the user");
    assert.equal(threadline.inbox.view.badge.value, 1);
    await until("the status bar counts it", () => threadline.statusBar.text.endsWith("$(mail) 1"));
    assert.equal(node.message.handlings.user.acknowledgedAt, null);
    assert.equal(threadline.inbox.getTreeItem(node).contextValue, "message.unread");
  });

  test("acknowledges a message, which its sender sees", async () => {
    const node = await message("the message", () => true);
    await vscode.commands.executeCommand("threadline.acknowledgeMessage", node);
    const { messages } = await threadline.sidecar.request("threadline/messages/read", {
      agentId: "codex",
      sent: true,
      status: "acknowledged",
    });
    assert.deepEqual(Object.keys(messages[0].handlings), ["user"]);
    await group(threadline.inbox, "acknowledged");
    assert.equal(threadline.inbox.view.badge, undefined);
    assert.ok(!threadline.statusBar.text.includes("mail"));
  });

  test("shows an agent's task, starts and completes it", async () => {
    const tasks = [{ title: "Wind the bobbins" }];
    await threadline.sidecar.request("threadline/tasks/create", { tasks, agentId: "codex" });
    for (const [from, command, to] of [
      ["todo", "threadline.startTask", "in_progress"],
      ["in_progress", "threadline.completeTask", "done"],
    ]) {
      const [node] = await threadline.tasks.getChildren(await group(threadline.tasks, from));
      assert.equal(threadline.tasks.getTreeItem(node).label, "Wind the bobbins");
      await vscode.commands.executeCommand(command, node);
      await group(threadline.tasks, to);
    }
  });
});
