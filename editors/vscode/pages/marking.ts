/** Where a text says what was searched for. */

export interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

const WORD = /[\p{L}\p{N}_]+/gu;
/** Words that say nothing about what is looked for. */
const EMPTY = new Set(
  "a an and are as at be but by do does for from how in is it of on or our so that the this to was we what when where which who why will with you".split(
    " ",
  ),
);
const STEM = 4;

/** A text in pieces, those marked that are words of the query, also in another form of them. */
export function pieces(text: string, query: string): Piece[] {
  const wanted = terms(query);
  if (wanted.length === 0) return [{ text, isMatch: false }];
  const found: Piece[] = [];
  let end = 0;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!wanted.some((term) => isAlike(word.toLowerCase(), term))) continue;
    if (index > end) found.push({ text: text.slice(end, index), isMatch: false });
    found.push({ text: word, isMatch: true });
    end = index + word.length;
  }
  if (end < text.length) found.push({ text: text.slice(end), isMatch: false });
  return found;
}

/** The part of a text around the first match, as long as fits; its beginning where nothing matches. */
export function excerpt(text: string, query: string, most: number): string {
  const flat = text.replace(/\s+/g, " ").trim();
  if (flat.length <= most) return flat;
  const [first, second] = pieces(flat, query);
  const at = first?.isMatch ? 0 : second ? (first?.text.length ?? 0) : 0;
  const from = at < most * 0.7 ? 0 : flat.indexOf(" ", Math.max(at - most / 3, 0)) + 1;
  const cut = flat.slice(from, from + most).replace(/\s+\S*$/, "");
  return `${from > 0 ? "… " : ""}${cut}${from + most < flat.length ? " …" : ""}`;
}

export function terms(query: string): string[] {
  const all = [...new Set(query.toLowerCase().match(WORD) ?? [])];
  const telling = all.filter((word) => word.length > 1 && !EMPTY.has(word));
  return telling.length > 0 ? telling : all;
}

/** Whether one is the other's beginning, or both are forms of one word. */
function isAlike(word: string, term: string): boolean {
  if (word.startsWith(term)) return true;
  const shared = sharedStart(word, term);
  const longer = Math.max(word.length, term.length);
  return shared >= STEM && shared >= longer - 3 && shared >= longer * 0.6;
}

function sharedStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one[length] === other[length]) length++;
  return length;
}
