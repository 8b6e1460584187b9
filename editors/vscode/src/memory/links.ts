/** Where links in hovers and lenses lead: which of our commands shows which kind of thing. */

const LINKS = {
  session: "threadline.openSession",
  memory: "threadline.openMemory",
  commit: "threadline.openCommit",
  file: "threadline.showFileMemory",
} as const;

/** Those whose commands this build has. */
export function linkCommands(offered: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(LINKS).filter(([, id]) => offered.includes(id)));
}
