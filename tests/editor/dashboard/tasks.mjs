/** The board of tasks. */

import assert from "node:assert/strict";
import { until } from "../waiting.mjs";

function kept({ call }, title) {
  const { tasks } = call("threadline/tasks/list", { limit: 200 });
  return tasks.find((one) => one.title === title);
}

function lane({ page }, name) {
  return page.getByRole("region", { name: new RegExp(`^${name}, `) });
}

function card({ page }, title) {
  return page.getByRole("article", { name: title });
}

function inLane(scene, name, title) {
  return lane(scene, name).getByRole("article", { name: title }).waitFor();
}

export const tasks = [
  ["teaches what tasks are for", async ({ visit, sees }) => {
    await visit("tasks");
    await sees("No tasks yet.");
  }],
  ["writes down several tasks at once", async (scene) => {
    const { page } = scene;
    await page.getByRole("button", { name: "New Task" }).click();
    const field = page.getByLabel("What is to be done");
    await field.fill("- Paint the buoys\n  red and green\n- Oil the crane\n- Count the ropes");
    await page.getByRole("button", { name: "Create 3 Tasks" }).click();
    await inLane(scene, "To Do", "Paint the buoys");
    assert.equal(kept(scene, "Paint the buoys").description, "red and green");
  }],
  ["shows what agents plan, as it happens", async (scene) => {
    scene.call("threadline/tasks/create", {
      agentId: "codex",
      tasks: [
        { title: "Dredge the basin", priority: 5, assignedAgentId: "codex", status: "in_progress" },
        { title: "Open the basin", dependsOn: [0], doneWhen: "path exists: src/basin.py" },
      ],
    });
    await inLane(scene, "In Progress", "Dredge the basin");
    await card(scene, "Open the basin").getByText("waits for Dredge the basin").waitFor();
    await card(scene, "Open the basin").getByText("path exists: src/basin.py").waitFor();
    await card(scene, "Dredge the basin").getByText("urgent").waitFor();
    await scene.photograph("tasks");
  }],
  ["moves a card that is dragged", async (scene) => {
    await card(scene, "Oil the crane").dragTo(lane(scene, "In Progress"));
    await inLane(scene, "In Progress", "Oil the crane");
    await until("it is kept", () => kept(scene, "Oil the crane").status === "in_progress");
  }],
  ["moves a card by keyboard, and the cursor with it", async (scene) => {
    const { page } = scene;
    await card(scene, "Count the ropes").getByRole("button", { name: "Count the ropes" }).focus();
    await page.keyboard.press("Alt+ArrowRight");
    await inLane(scene, "In Progress", "Count the ropes");
    await until("the cursor is there", async () =>
      (await page.locator(":focus").innerText()) === "Count the ropes",
    );
    await page.keyboard.press("Alt+ArrowRight");
    await page.keyboard.press("Alt+ArrowRight");
    await inLane(scene, "Done", "Count the ropes");
    await until("it is kept", () => kept(scene, "Count the ropes").status === "done");
    assert.equal(await page.locator(".notice.bad").count(), 0);
  }],
  ["moves a card by its menu", async (scene) => {
    await card(scene, "Paint the buoys").getByLabel("Status of Paint the buoys").selectOption("blocked");
    await inLane(scene, "Blocked", "Paint the buoys");
  }],
  ["changes a task, and loses nothing when somebody else does", async (scene) => {
    const { page, call } = scene;
    await card(scene, "Paint the buoys").getByRole("button", { name: "Paint the buoys" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Assigned to").selectOption("codex");
    await until("it is assigned", () => kept(scene, "Paint the buoys").assignedAgentId === "codex");
    await dialog.getByLabel("Priority").selectOption("4");
    await dialog.getByLabel("Wait for another task").selectOption({ label: "Oil the crane" });
    await dialog.getByRole("button", { name: "Oil the crane", exact: true }).waitFor();
    await dialog.getByLabel("Title").fill("Paint all buoys");
    const { taskId } = kept(scene, "Paint the buoys");
    call("threadline/tasks/update", { taskId, note: "Use the good paint.", agentId: "codex" });
    await dialog.getByText("Use the good paint.").waitFor();
    assert.equal(await dialog.getByLabel("Title").inputValue(), "Paint all buoys");
    call("threadline/tasks/update", { taskId, title: "Paint the beacons", agentId: "codex" });
    await dialog.getByText("Somebody has changed this task meanwhile.").waitFor();
    await scene.photograph("task");
    await dialog.getByRole("button", { name: "Keep Mine" }).click();
    await dialog.getByRole("button", { name: "Save" }).click();
    await until("it is kept", () => kept(scene, "Paint all buoys"));
    const { priority, needs } = kept(scene, "Paint all buoys");
    assert.deepEqual([priority, needs.map(({ title }) => title)], [4, ["Oil the crane"]]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }],
  ["says it when somebody was faster", async (scene) => {
    const { openTab, address, call } = scene;
    const other = await openTab();
    let isDeaf = false;
    await other.routeWebSocket(/\/rpc$/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((text) => server.send(text));
      server.onMessage((text) => {
        if (!isDeaf || !text.includes("didChange")) socket.send(text);
      });
    });
    await other.goto(`${address}/#/tasks`);
    await other.reload();
    const title = other.getByRole("button", { name: "Dredge the basin" });
    await title.waitFor();
    isDeaf = true;
    const { taskId } = kept(scene, "Dredge the basin");
    call("threadline/tasks/update", { taskId, note: "Half of it.", agentId: "codex" });
    await title.focus();
    await other.keyboard.press("Alt+ArrowRight");
    await other.getByText("Somebody was faster: “Dredge the basin” has changed.").waitFor();
    assert.equal(kept(scene, "Dredge the basin").status, "in_progress");
    await other.close();
  }],
  ["suggests what a commit seems to have done", async (scene) => {
    const { page, workspace, call } = scene;
    call("threadline/tasks/create", { tasks: [{ title: "Replace the rotten planks of the north pier" }] });
    const seen = card(scene, "Replace the rotten planks of the north pier");
    await seen.waitFor();
    const replace = (planks) => {
      workspace.write("src/pier.py", `planks = ${planks}\n`);
      workspace.commit("Replace the rotten planks of the north pier");
    };
    replace(6);
    await seen.getByRole("button", { name: "Not Yet" }).click();
    await seen.getByText("Looks done:").waitFor({ state: "detached" });
    await page.reload();
    await seen.waitFor();
    assert.equal(await seen.getByText("Looks done:").count(), 0);
    // Git counts whole seconds: what is committed in this one may have been seen.
    const doubted = Date.now();
    await until("the next second", () => Date.now() > doubted + 1000);
    replace(12);
    await seen.getByText("Looks done:").waitFor();
    await seen.getByRole("button", { name: "Complete" }).click();
    await inLane(scene, "Done", "Replace the rotten planks of the north pier");
    const done = () => kept(scene, "Replace the rotten planks of the north pier");
    await until("it is kept", () => done().status === "done");
    assert.match(done().evidence, /north pier/);
    await page.reload();
    await inLane(scene, "Done", "Replace the rotten planks of the north pier");
  }],
  ["says that there is no such task, and shows the others", async (scene) => {
    await scene.visit("tasks/01NOPE");
    await scene.sees("There is no such task.");
    await inLane(scene, "In Progress", "Dredge the basin");
    await scene.visit("tasks");
  }],
  ["finds tasks by words and by whose they are", async (scene) => {
    const { page } = scene;
    await page.getByRole("searchbox", { name: "Find tasks" }).fill("crane");
    await until("only that one", async () => (await page.locator(".card.task").count()) === 1);
    await page.getByRole("searchbox", { name: "Find tasks" }).fill("");
    await page.getByLabel("Whose tasks").selectOption("codex");
    await until("only Codex's", async () => (await page.locator(".card.task").count()) === 2);
    await page.getByLabel("Whose tasks").selectOption("");
  }],
  ["fits into a narrow window", async (scene) => {
    const { page } = scene;
    await page.setViewportSize({ width: 320, height: 800 });
    await scene.photograph("tasks-narrow");
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    await page.setViewportSize({ width: 1280, height: 800 });
  }],
];
