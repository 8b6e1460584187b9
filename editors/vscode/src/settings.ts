/** What the user chose, apart from what a project did: the sidecar believes each only as far as it may. */

/** What an editor tells of a setting, level by level. */
export interface Inspected {
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
}

export const SECTION = "threadline";
/** The section in which the sidecar asks for the user's own choices. */
export const USER_SECTION = "threadline.user";
/** Tells a sidecar, as it is started, that we answer that section; no project reaches its environment. */
export const ENVIRONMENT = { THREADLINE_USER_SECTION: USER_SECTION } as const;

/** Answer a question for a section; defaults are left out, since the user's own file may say otherwise. */
export function answerSection(
  section: string | undefined,
  names: readonly string[],
  inspect: (name: string) => Inspected | undefined,
): Record<string, unknown> | null {
  if (section !== SECTION && section !== USER_SECTION) return null;
  const level = section === USER_SECTION ? "globalValue" : "workspaceValue";
  const chosen = names.map((name) => [name, inspect(name)?.[level]] as const);
  return Object.fromEntries(chosen.filter(([, value]) => value !== undefined));
}

/** What our settings are called without the name of their section, from the manifest. */
export function settingNames(properties: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(properties).map((name) => name.slice(SECTION.length + 1));
}
