/** What a person is about to say, beside what is said now, so that neither is lost. */

/** A draft, and what it was begun from. */
export interface Words<T> {
  readonly draft: T;
  readonly base: T;
}

/** The same of something that is kept, with the version it was begun from. */
export interface Edit<T> extends Words<T> {
  readonly updatedAt: string;
}

export function begin<T>(said: T, updatedAt: string): Edit<T> {
  return { draft: said, base: said, updatedAt };
}

/** What is different in a draft. */
export function changed<T extends object>({ draft, base }: Words<T>): Partial<T> {
  const fields = Object.keys(draft) as (keyof T)[];
  const different = fields.filter((name) => draft[name] !== base[name]);
  return Object.fromEntries(different.map((name) => [name, draft[name]])) as Partial<T>;
}

export function isChanged<T extends object>(words: Words<T>): boolean {
  return Object.keys(changed(words)).length > 0;
}

/**
 * The edit on top of what is said now; undefined where somebody has changed the very parts that are
 * being edited, so that a person has to choose.
 */
export function rebased<T extends object>(
  edit: Edit<T>,
  theirs: T,
  updatedAt: string,
): Edit<T> | undefined {
  const mine = changed(edit);
  const fields = Object.keys(mine) as (keyof T)[];
  const isClash = fields.some(
    (name) => theirs[name] !== edit.base[name] && theirs[name] !== edit.draft[name],
  );
  return isClash ? undefined : { draft: { ...theirs, ...mine }, base: theirs, updatedAt };
}

/** My words win: they are put on top of what is said now. */
export function insist<T>(edit: Edit<T>, theirs: T, updatedAt: string): Edit<T> {
  return { draft: edit.draft, base: theirs, updatedAt };
}

/** Whether one moment comes after another, also where both fall into one millisecond. */
export function isLater(one: string, other: string): boolean {
  const apart = Date.parse(one) - Date.parse(other);
  return apart > 0 || (apart === 0 && one > other);
}
