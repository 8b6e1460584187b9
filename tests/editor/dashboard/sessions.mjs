/** The list of sessions. */

import assert from "node:assert/strict";
import { until } from "../waiting.mjs";

export const sessions = [
  ["shows sessions by day", async ({ page, visit, sees, photograph }) => {
    await visit("sessions");
    await sees("Today");
    await sees("memory made");
    assert.equal(await page.title(), "Sessions – Threadline");
    await photograph("sessions");
  }],
  ["shows a commit as it is made", async ({ page, workspace, visit }) => {
    await visit("sessions");
    await until("the commit is seen", async () => {
      workspace.write("src/live.py", `${Math.random()}\n`);
      workspace.commit("Show it while it happens");
      return page.getByText("4 events").first().waitFor({ timeout: 2000 }).then(() => true, () => false);
    });
  }],
];
