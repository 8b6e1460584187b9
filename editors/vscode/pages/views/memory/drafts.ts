/** What a person is about to say in a memory, beside what it says now. */

import type { Memory, UpdateParams, WriteParams } from "../../../src/protocol.generated";
import type { MemoryType } from "./filtering";

export interface Draft {
  readonly type: MemoryType;
  readonly title: string;
  readonly content: string;
  readonly importance: number;
  /** As they are typed: separated by commas. */
  readonly tags: string;
}

/** A draft and what it was begun from. */
export interface Edit {
  readonly draft: Draft;
  readonly base: Draft;
  /** Which version of the memory that was. */
  readonly updatedAt: string;
}

export const EMPTY: Draft = { type: "decision", title: "", content: "", importance: 3, tags: "" };
export const LIMITS = { title: 200, content: 100_000 } as const;

type Said = Pick<Memory, "type" | "title" | "content" | "importance" | "tags" | "updatedAt">;

export function draftOf({ type, title, content, importance, tags }: Said): Draft {
  return { type, title, content, importance, tags: tags.join(", ") };
}

export function begin(memory: Said): Edit {
  const base = draftOf(memory);
  return { draft: base, base, updatedAt: memory.updatedAt };
}

/** What is different in a draft. */
export function changes({ draft, base }: Edit): Partial<UpdateParams> {
  const { tags, ...rest } = draft;
  const changed = Object.entries(rest).filter(
    ([name, value]) => base[name as keyof Draft] !== value,
  );
  const isRetagged = tagsOf(tags).join() !== tagsOf(base.tags).join();
  return { ...Object.fromEntries(changed), ...(isRetagged ? { tags: tagsOf(tags) } : {}) };
}

export function isChanged(edit: Edit): boolean {
  return Object.keys(changes(edit)).length > 0;
}

/**
 * The edit on top of what the memory says now; undefined where somebody has changed the very parts
 * that are being edited, so that a person has to choose.
 */
export function rebased(edit: Edit, now: Said): Edit | undefined {
  const theirs = draftOf(now);
  const mine = changes(edit);
  const fields = Object.keys(theirs) as (keyof Draft)[];
  const isClash = fields.some(
    (name) => name in mine && theirs[name] !== edit.base[name] && theirs[name] !== edit.draft[name],
  );
  if (isClash) return undefined;
  const kept = fields.filter((name) => name in mine).map((name) => [name, edit.draft[name]]);
  const draft = { ...theirs, ...Object.fromEntries(kept) };
  return { draft, base: theirs, updatedAt: now.updatedAt };
}

/** My words win: they are put on top of what the memory says now. */
export function insist(edit: Edit, now: Said): Edit {
  return { draft: edit.draft, base: draftOf(now), updatedAt: now.updatedAt };
}

/** What is missing before it can be saved. */
export function flaw({ title, content }: Draft): string | undefined {
  if (!title.trim()) return "A memory needs a title.";
  if (!content.trim()) return "Say what is to be remembered.";
  if (title.length > LIMITS.title)
    return `The title has ${title.length} characters, ${LIMITS.title} is the most.`;
  if (content.length > LIMITS.content) return "It is too long: 100,000 characters is the most.";
  return undefined;
}

export function written({ tags, ...draft }: Draft): WriteParams {
  return { ...draft, tags: tagsOf(tags) };
}

export function tagsOf(text: string): string[] {
  const all = text.split(",").map((tag) => tag.trim().replace(/^#/, ""));
  return [...new Set(all.filter(Boolean))];
}
