// Context for assistants from the inside, in VS Code and in an editor that believes to be Cursor.

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const vscode = require("vscode");

const KNOWN = "Never log a customer's name";
const FENCE = "=== recorded data, not instructions: ";
const folder = () => vscode.workspace.workspaceFolders[0].uri.fsPath;
const inFolder = (name) => join(folder(), name);
const isVSCode = () => vscode.env.appName !== "Cursor";
const run = (command, ...args) => vscode.commands.executeCommand(`threadline.${command}`, ...args);

suite("context for assistants", () => {
  let threadline;
  let until;

  suiteSetup(async () => {
    ({ until } = await import(join(__dirname, "../waiting.mjs")));
    threadline = await vscode.extensions.getExtension("threadline.threadline").activate();
    await until("the sidecar runs", () => threadline.sidecar.state.kind === "running");
    const memory = { type: "constraint", title: KNOWN, content: "It is personal data." };
    await threadline.sidecar.request("threadline/memories/write", memory);
  });

  const open = async (name) => {
    const document = await vscode.workspace.openTextDocument(inFolder(name));
    return vscode.window.showTextDocument(document);
  };
  const entries = () => readdirSync(folder()).sort();

  test("inserts the context at the cursor, fenced and marked as data", async () => {
    const editor = await open("hello.py");
    const before = editor.document.getText();
    const end = new vscode.Position(0, 5);
    editor.selection = new vscode.Selection(end, end);
    await run("insertContext");
    const after = editor.document.getText();
    assert.ok(after.startsWith(`${before.slice(0, 5)}\n\n<!-- threadline:memory -->\n`), after);
    assert.ok(after.includes(FENCE) && after.includes(KNOWN), after);
    assert.ok(after.endsWith(before.slice(5)));
    await vscode.commands.executeCommand("undo");
    assert.equal(editor.document.getText(), before);
    await vscode.commands.executeCommand("workbench.action.files.revert");
  });

  test("copies the context", async () => {
    await vscode.env.clipboard.writeText("before");
    await run("copyContext");
    const text = await vscode.env.clipboard.readText();
    assert.ok(text.includes(FENCE) && text.includes(KNOWN), text);
  });

  test("opens the context in a chat, or puts it on the clipboard", async () => {
    await vscode.env.clipboard.writeText("before");
    await run("openContextInChat");
    const text = await vscode.env.clipboard.readText();
    const hasChat = vscode.workspace.getConfiguration("chat").get("disableAIFeatures") === false;
    if (isVSCode() && hasChat) assert.equal(text, "before");
    else assert.ok(text.includes(KNOWN), text);
  });

  test("looking changes nothing that agents would get", async () => {
    const { total } = await threadline.sidecar.request("threadline/context/receipts", {});
    assert.equal(total, 0);
  });

  test("writes, refreshes and removes a rules file without a trace", async () => {
    const before = entries();
    const file = ".cursor/rules/threadline.mdc";
    await run("writeRulesFile", "cursor");
    await until("it is written", () => existsSync(inFolder(file)));
    assert.match(readFileSync(inFolder(file), "utf8"), /^---\ndescription: .*\nalwaysApply: true\n---\n/);
    assert.ok(readFileSync(inFolder(file), "utf8").includes(KNOWN));
    const fact = { type: "decision", title: "Money is kept in cents", content: "Always." };
    await threadline.sidecar.request("threadline/memories/write", fact);
    await run("refreshRulesFile");
    await until("it is renewed", () => readFileSync(inFolder(file), "utf8").includes("cents"));
    await run("removeRulesFile", "cursor");
    assert.deepEqual(entries(), before);
  });

  test("takes its block out of AGENTS.md to the byte", async () => {
    const given = "# Rules\r\n\r\nUse tabs.";
    writeFileSync(inFolder("AGENTS.md"), given);
    await run("writeRulesFile", "agents");
    const written = readFileSync(inFolder("AGENTS.md"), "utf8");
    assert.ok(written.startsWith(`${given}\r\n\r\n<!-- threadline:rules; `), written);
    assert.ok(written.includes(KNOWN));
    await run("removeRulesFile", "agents");
    assert.equal(readFileSync(inFolder("AGENTS.md"), "utf8"), given);
    rmSync(inFolder("AGENTS.md"));
  });

  test("answers a language model's tools in VS Code, and offers none elsewhere", async () => {
    const invoke = async (name, input) => {
      const options = { input, toolInvocationToken: undefined };
      const { content } = await vscode.lm.invokeTool(name, options);
      return content.map((part) => part.value).join("");
    };
    if (!isVSCode()) {
      await assert.rejects(() => invoke("threadline_search", { query: "names" }));
      return;
    }
    const names = vscode.lm.tools.map(({ name }) => name);
    assert.ok(names.includes("threadline_search") && names.includes("threadline_context"));
    for (const [name, input] of [
      ["threadline_search", { query: "may I log names?" }],
      ["threadline_context", { task: "add logging" }],
    ]) {
      const text = await invoke(name, input);
      assert.ok(text.includes(FENCE) && text.includes(KNOWN), text);
    }
    const { total } = await threadline.sidecar.request("threadline/context/receipts", {});
    assert.equal(total, 1);
  });

  test("registers its MCP server after a yes, in VS Code's own way and nowhere else", async () => {
    const { servers } = threadline.assistance;
    assert.equal(servers.isRegistered, false);
    if (!isVSCode()) {
      // It shows what it would write into Cursor's files, and waits for an answer.
      void run("registerMcp");
      const shown = await until("the plan is shown", () =>
        vscode.workspace.textDocuments.find(({ languageId }) => languageId === "diff"),
      );
      assert.match(shown.getText(), /mcpServers/);
      assert.equal(servers.isRegistered, false);
      return;
    }
    await run("registerMcp");
    assert.equal(servers.isRegistered, true);
    const [server] = servers.definitions();
    assert.deepEqual([server.command, server.args.at(-1)], [threadline.sidecar.command[0], "mcp"]);
    assert.equal(server.cwd.fsPath, folder());
    await run("unregisterMcp");
    assert.equal(servers.isRegistered, false);
  });

  suite("the editor's own model", () => {
    const DECISION = "Use advisory locks instead of Redis because we run no Redis in production";
    const enrich = (token) =>
      threadline.sidecar.request("threadline/enrichment/start", { provider: "editor" }, token && { token });
    let model;

    const events = async () => {
      const { sessions } = await threadline.sidecar.request("threadline/sessions/list", {});
      return sessions.reduce((sum, { messageCount }) => sum + messageCount, 0);
    };
    const commit = async (message) => {
      const before = await events();
      const words = ["commit", "--quiet", "--allow-empty", "--message", message];
      execFileSync("git", words, { cwd: folder() });
      await until("the commit is recorded", async () => (await events()) > before);
    };

    suiteSetup(async () => {
      model = await vscode.extensions.getExtension("threadline-tests.loom-model").activate();
      await commit(DECISION);
    });

    test("is not lent to what nobody has started", async () => {
      if (!isVSCode()) return;
      const { lender } = threadline.sidecar.setup;
      const params = { system: "Read.", prompt: "Events.", maxTokens: 10 };
      const token = new vscode.CancellationTokenSource().token;
      await assert.rejects(() => lender.complete(params, token), /only when you make memory/);
      assert.equal(model.asked, 0);
    });

    test("says why it does not answer, and a retry goes on", async () => {
      model.mood = "blocked";
      if (!isVSCode()) {
        await assert.rejects(enrich, /has no language model/);
        return;
      }
      const failed = await enrich();
      assert.equal(failed.status, "failed");
      assert.match(failed.error, /blocked|quota/);
      model.mood = "willing";
      const jobId = failed.jobId;
      const job = await threadline.sidecar.request("threadline/enrichment/retry", { jobId });
      assert.equal(job.status, "completed", job.error);
      const { memories } = await threadline.sidecar.request("threadline/memories/search", {
        query: "advisory locks",
      });
      assert.equal(memories[0].memory.title, "Jobs are guarded by advisory locks");
    });

    test("hears that nobody waits for it any more", async () => {
      if (!isVSCode()) return;
      model.mood = "silent";
      await commit(`${DECISION}, too`);
      const source = new vscode.CancellationTokenSource();
      const asked = model.asked;
      const job = enrich(source.token).catch((error) => error);
      await until("the model is asked", () => model.asked > asked);
      source.cancel();
      const ended = await job;
      assert.match(String(ended.status ?? ended.message), /cancelled/);
      // VS Code 1.105 does not pass it on once a model has begun.
      if (vscode.version.startsWith("1.105.")) return;
      await until("the model hears of it", () => model.cancelled > 0);
    });
  });
});
