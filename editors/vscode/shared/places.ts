/** Where one can be in the pages, and how that is written into an address. */

export const PAGES = [
  "timeline",
  "sessions",
  "session",
  "memory",
  "injection",
  "tasks",
  "inbox",
] as const;

export type PageName = (typeof PAGES)[number];

export interface Place {
  readonly page: PageName;
  /** Of the session, memory or task that is looked at. */
  readonly id?: string | undefined;
  /** The project's id; the first one where it is not said. */
  readonly project?: string | undefined;
}

export const HOME: Place = { page: "timeline" };

/** As the last part of an address: `#/session/ID?project=ID`. */
export function write({ page, id, project }: Place): string {
  const way = [page, id].filter((part) => part !== undefined).map(encodeURIComponent);
  return `#/${way.join("/")}${project ? `?project=${encodeURIComponent(project)}` : ""}`;
}

/** What cannot be read leads home. */
export function read(hash: string): Place {
  const [, page, id, project] = /^#\/([a-z]+)(?:\/([^?]+))?(?:\?project=(.+))?$/.exec(hash) ?? [];
  const known = PAGES.find((name) => name === page);
  return known ? { page: known, id: decoded(id), project: decoded(project) } : HOME;
}

/** Where a page begins: an editor makes one anew that was hidden, which goes on where it had got to. */
export function first(kept: string | undefined, asked: string | undefined): Place {
  return read(kept || asked || "");
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text && decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
