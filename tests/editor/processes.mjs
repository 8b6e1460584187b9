// The processes that belong to one run: found by the environment they were given, ended by their id.

import { readdirSync, readFileSync } from "node:fs";

/** Ids of the sidecars that keep their data in `home`; a fork of one that is about to become git is none. */
export function sidecars(home) {
  const found = withVariable(`THREADLINE_HOME=${home}`).filter((id) =>
    read(`/proc/${id}/cmdline`).split("\0").includes("serve"),
  );
  return found.filter((id) => !found.includes(parent(id)));
}

export function endAll(home) {
  for (const id of withVariable(`THREADLINE_HOME=${home}`)) end(id);
}

export function end(id, signal = "SIGKILL") {
  try {
    process.kill(id, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

function withVariable(variable) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => read(`/proc/${id}/environ`).split("\0").includes(variable));
}

function parent(id) {
  return Number(/^PPid:\s*(\d+)/m.exec(read(`/proc/${id}/status`))?.[1]);
}

function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
