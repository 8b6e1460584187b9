import assert from "node:assert/strict";
import { test } from "node:test";
import { commitPage, plain, quoted } from "../src/pages";
import { event } from "./given";

const NOW = new Date(2026, 10, 16, 12, 0);
const GAP = "\u200b";

function checkQuote(text: string, expected: string): void {
  test(`${JSON.stringify(text)} is quoted so that nothing is fetched`, () => {
    assert.equal(quoted(text), expected);
  });
}

checkQuote("# Not ours\n---\nend", "> # Not ours\n> ---\n> end");
checkQuote("![x](https://example.org/a.png)", `> !${GAP}[x](https://example.org/a.png)`);
checkQuote("![x]\n\n[x]: https://example.org", `> !${GAP}[x]\n> \n> [x]: https://example.org`);
checkQuote('<img src="https://example.org">', `> <${GAP}img src="https://example.org">`);
checkQuote("<IMG\nsrc=x>", `> <${GAP}IMG\n> src=x>`);
checkQuote("<style>*{}</style>", `> <${GAP}style>*{}</style>`);
checkQuote("`vec![1]` of `List<String>`", "> `vec![1]` of `List<String>`");
checkQuote("a < b <c> d", "> a < b <c> d");

test("a name that looks like Markdown stands for itself", () => {
  assert.equal(plain("**a**\n# [b](c)"), "\\*\\*a\\*\\* \\# \\[b\\]\\(c\\)");
});

test("a commit's page holds its facts, and nothing of it can pass for ours", () => {
  const sha = "a".repeat(40);
  const page = commitPage(
    event({
      kind: "commit",
      commit: {
        sha,
        authoredAt: NOW.toISOString(),
        authorName: "Ada *L*",
        subject: "Weave <b>tighter</b>",
        body: "# Because\n\n<script>it</script> must.",
      },
      files: [{ path: "src/a_b.py", addedLines: 3, deletedLines: 1 }],
    }),
    NOW,
  );
  assert.ok(page.startsWith("# Weave \\<b\\>tighter\\</b\\>"));
  assert.ok(page.includes("> # Because"));
  assert.ok(!page.includes("<script>"));
  assert.ok(page.includes("- modified: src/a\\_b\\.py (+3 −1)"));
  assert.ok(page.includes(sha));
});
