// The extension from the inside, in an editor that believes to be Cursor.

const assert = require("node:assert/strict");
const { join } = require("node:path");
const vscode = require("vscode");

const manifest = () => vscode.extensions.getExtension("threadline.threadline");
const folder = () => vscode.workspace.workspaceFolders[0].uri.fsPath;

suite("the extension", () => {
  let threadline;
  let tools;

  suiteSetup(async () => {
    tools = {
      ...(await import(join(__dirname, "../waiting.mjs"))),
      ...(await import(join(__dirname, "../processes.mjs"))),
      ...(await import(join(__dirname, "../workspaces.mjs"))),
    };
  });

  const running = () =>
    tools.until("the sidecar runs", () => threadline.sidecar.state.kind === "running");
  const sessions = async () => {
    const nodes = await threadline.tree.getChildren();
    const days = nodes.filter((node) => !node.session).map((day) => day.children());
    return [...nodes, ...days.flat()].map((node) => node.session);
  };
  const session = (what, is) =>
    tools.until(what, async () => (await sessions()).find((session) => session && is(session)));
  const save = async (name, text) => {
    const document = await vscode.workspace.openTextDocument(join(folder(), name));
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), text);
    await vscode.workspace.applyEdit(edit);
    assert.ok(await document.save());
  };

  test("activates and starts its sidecar", async () => {
    threadline = await manifest().activate();
    await running();
    assert.equal(tools.sidecars(process.env.THREADLINE_HOME).length, 1);
  });

  test("registers every command it offers", async () => {
    const registered = new Set(await vscode.commands.getCommands(true));
    const offered = manifest().packageJSON.contributes.commands.map(({ command }) => command);
    assert.deepEqual(
      offered.filter((id) => !registered.has(id)),
      [],
    );
  });

  test("calls itself after the editor it runs in", async () => {
    assert.equal(vscode.env.appName, "Cursor");
    await save("hello.py", "# one\n");
    const found = await session("a session", ({ messageCount }) => messageCount === 1);
    assert.deepEqual([found.source, found.sources], ["cursor", ["cursor"]]);
    assert.deepEqual(found.filesModified, ["hello.py"]);
  });

  test("shows a commit made outside", async () => {
    const { execFileSync } = require("node:child_process");
    execFileSync("git", ["commit", "--quiet", "--all", "--message", "Note one"], { cwd: folder() });
    await session("two events", ({ messageCount }) => messageCount === 2);
    const [node] = await threadline.tree.getChildren();
    const [latest] = await threadline.tree.getChildren(node);
    assert.equal(threadline.tree.getTreeItem(latest).label, "Note one");
    const { events } = await threadline.sidecar.request("threadline/sessions/events", {
      sessionId: node.session.sessionId,
    });
    assert.deepEqual(
      events.map(({ source }) => source),
      ["cursor", "cursor"],
    );
  });

  test("binds no key that the editor uses itself", async () => {
    const uri = vscode.Uri.parse("vscode://defaultsettings/keybindings.json");
    const document = await vscode.workspace.openTextDocument(uri);
    const bindings = [...document.getText().matchAll(/"key": "([^"]+)",\s*"command": "([^"]+)"/g)];
    const ours = bindings.filter(([, , command]) => command.startsWith("threadline."));
    const keys = ours.map(([, key]) => key);
    assert.equal(ours.length, manifest().packageJSON.contributes.keybindings.length);
    assert.deepEqual(
      bindings.filter(([, key]) => keys.includes(key)),
      ours,
    );
  });

  test("records nothing while paused", async () => {
    await threadline.sidecar.request("threadline/capture/pause", { duration: "forever" });
    await tools.until("the pause is shown", () => threadline.statusBar.text.includes("Paused"));
    await save("hello.py", "# two\n");
    await vscode.commands.executeCommand("threadline.resumeCapture");
    await tools.until(
      "the end of the pause is shown",
      () => !threadline.statusBar.text.includes("Paused"),
    );
    await save("src/weaving.py", "# three\n");
    const found = await session("an event", ({ messageCount }) => messageCount > 2);
    assert.equal(found.messageCount, 3);
  });

  test("brings a killed sidecar back at once", async () => {
    const [killed] = tools.sidecars(process.env.THREADLINE_HOME);
    const start = Date.now();
    tools.end(killed);
    await tools.until("it is noticed", () => threadline.sidecar.state.kind !== "running");
    await running();
    const [found] = tools.sidecars(process.env.THREADLINE_HOME);
    assert.notEqual(found, killed);
    assert.ok(Date.now() - start < 20_000, `it took ${Date.now() - start} ms`);
    await save("hello.py", "# four\n");
    await session("an event", ({ messageCount }) => messageCount === 4);
  });

  test("closes the active session", async () => {
    await vscode.commands.executeCommand("threadline.closeSession");
    const closed = await session("a closed session", ({ status }) => status === "closed");
    assert.equal(closed.messageCount, 4);
  });

  test("gives up a sidecar that is killed again and again, until told to restart", async () => {
    await vscode.commands.executeCommand("threadline.restartServer");
    for (let kills = 0; kills < 6; kills++) {
      await running();
      tools.end(tools.sidecars(process.env.THREADLINE_HOME)[0]);
      await tools.until("it is noticed", () => threadline.sidecar.state.kind !== "running");
    }
    assert.equal(threadline.sidecar.state.kind, "failed");
    await vscode.commands.executeCommand("threadline.restartServer");
    await running();
  });
});
