import assert from "node:assert/strict";
import { test } from "node:test";
import { commitPage, plain, quoted, taskPage, threadPage } from "../src/pages";
import { event, message, task } from "./given";

const NOW = new Date(2026, 10, 16, 12, 0);
const AT = new Date(2026, 10, 16, 11, 5).toISOString();
const TIME = new Date(AT).toLocaleTimeString(undefined, { hour: "numeric", minute: "2-digit" });
const GAP = "\u200b";

test("a thread is read from its beginning, with who has dealt with what", () => {
  const first = message({
    subject: "Schema_v2",
    category: "request",
    priority: 5,
    createdAt: AT,
    handlings: { user: { deliveredAt: AT, acknowledgedAt: AT } },
  });
  const answer = message({
    senderId: "user",
    targetId: "claude-code",
    content: "Fine.",
    createdAt: AT,
    handlings: { "claude-code": { deliveredAt: AT, acknowledgedAt: null } },
  });
  assert.equal(
    threadPage({ messages: [first, answer], missing: [] }, new Map(), NOW),
    [
      "# Schema\\_v2",
      `**Claude Code** to you · ${TIME} · request · urgent`,
      "> The schema is ready.\n> Please look at it.",
      `*acknowledged by you, ${TIME}*`,
      `**You** to Claude Code · ${TIME}`,
      "> Fine.",
      `*read by Claude Code, ${TIME}*`,
    ].join("\n\n"),
  );
});

test("a thread says that its beginning vanished", () => {
  const page = threadPage({ messages: [message()], missing: ["x"] }, new Map(), NOW);
  assert.match(page, /An earlier message of this thread vanished/);
});

test("a task tells all that is known of it", () => {
  const said = task({
    description: "Both sides.",
    priority: 4,
    assignedAgentId: "codex",
    createdBy: "claude-code",
    createdAt: AT,
    doneWhen: "path exists: hem.py",
    evidence: "abc123",
    notes: [{ at: AT, agentId: null, text: "Use silk." }],
    links: [
      { linkId: "l", type: "implements", isSource: false, kind: "file", id: "a.py", title: "a.py" },
    ],
  });
  assert.equal(
    taskPage(said, { labels: new Map([["codex", "Codex"]]), obstacles: ["Spin"], now: NOW }),
    [
      "# Weave the hem",
      "**To Do** · high · for Codex",
      "> Both sides.",
      "## Waits for\n\n- Spin",
      "## Done when\n\n> path exists: hem.py",
      "## Evidence\n\n> abc123",
      `## Notes\n\nYou, ${TIME}\n\n> Use silk.`,
      "## Linked with\n\n- implements: a\\.py",
      `*Written down by Claude Code, ${TIME}*`,
    ].join("\n\n"),
  );
});

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
