/** A memory as it is typed, and as it is sent. */

import type { MemoryType } from "../../../shared/filters";
import type { Memory, UpdateParams, WriteParams } from "../../../shared/protocol.generated";
import { changed, type Edit } from "../../drafts";

export interface Draft {
  readonly type: MemoryType;
  readonly title: string;
  readonly content: string;
  readonly importance: number;
  /** Separated by commas. */
  readonly tags: string;
}

export const EMPTY: Draft = { type: "decision", title: "", content: "", importance: 3, tags: "" };
export const LIMITS = { title: 200, content: 100_000 } as const;

type Said = Pick<Memory, "type" | "title" | "content" | "importance" | "tags">;

export function draftOf({ type, title, content, importance, tags }: Said): Draft {
  return { type, title, content, importance, tags: tags.join(", ") };
}

/** What is different, as the sidecar wants it. */
export function changes(edit: Edit<Draft>): Partial<UpdateParams> {
  const { tags, ...rest } = changed(edit);
  return tags === undefined ? rest : { ...rest, tags: tagsOf(tags) };
}

export function written({ tags, ...draft }: Draft): WriteParams {
  return { ...draft, tags: tagsOf(tags) };
}

/** What is missing before it can be saved. */
export function flaw({ title, content }: Draft): string | undefined {
  if (!title.trim()) return "A memory needs a title.";
  if (!content.trim()) return "Say what is to be remembered.";
  if (title.length > LIMITS.title) return "The title is too long: 200 characters is the most.";
  if (content.length > LIMITS.content) return "It is too long: 100,000 characters is the most.";
  return undefined;
}

export function tagsOf(text: string): string[] {
  const all = text.split(",").map((tag) => tag.trim().replace(/^#/, ""));
  return [...new Set(all.filter(Boolean))];
}
