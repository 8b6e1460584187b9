"""What is told of a line is short, and nothing that is quoted in it can do more than be read."""

import re
import unicodedata
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from protocol.explanations import Behind, Explanation, FileStory, LineOrigin
from protocol.memories import Evidence, Memory
from protocol.sessions import Session
from sidecar.context.rules import explanations
from sidecar.context.rules.explanations import Style
from tests.support import NOON

SHA = "0123456789abcdef0123456789abcdef01234567"
ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
MARKDOWN = Style(is_markdown=True)
LINKS = {
    "memory": "threadline.openMemory",
    "commit": "git.show",
    "session": "threadline.openSession",
}
SPITEFUL = st.one_of(
    st.text(max_size=80),
    st.sampled_from(
        [
            "[click](command:evil?%5B1%5D)",
            "![image](http://example.org/x.png)",
            "<a href='command:evil'>x</a>",
            "<command:evil>",
            "**bold** __bold__ _x_ `code` ~~gone~~",
            "``` \n# Heading\n- item\n[x]: command:evil\n",
            "`; [x](command:evil)`",
            "\\[x](command:evil)",
            "a | b & &lt;b&gt;",
            "\u202eevil\u202c\x1b[31m",
            "x" * 5000,
        ]
    ),
)


def memory(title: str = "Use advisory locks", **more: Any) -> Memory:
    made = Memory(
        memory_id=ID,
        project_id="p",
        type="decision",
        title=title,
        content=title,
        evidence=(Evidence(quote=title, commit_sha=SHA),),
        occurred_at=NOON,
        created_at=NOON,
        updated_at=NOON,
    )
    return msgspec.structs.replace(made, **more)


def origin(subject: str = "Use advisory locks, not Redis", author: str = "Ada") -> LineOrigin:
    return LineOrigin(
        sha=SHA, subject=subject, author_name=author, authored_at=NOON, path="a.py", line=1
    )


def session(summary: str | None = "Made the queue safe\nand more") -> Session:
    return Session(
        session_id=ID,
        project_id="p",
        started_at=NOON,
        last_event_at=NOON,
        source="vscode",
        sources=("vscode", "cli-scan"),
        summary=summary,
    )


def explanation(*memories: Memory, **more: Any) -> Explanation:
    behind = tuple(Behind(memory=one, why="commit") for one in memories)
    return Explanation(project_id="p", path="a.py", line=1, memories=behind, **more)


def test_a_hover_tells_the_memories_the_commit_and_the_session() -> None:
    """Part of D13."""
    found = explanation(memory(), origin=origin(), session=session())
    assert explanations.hover(found, MARKDOWN) == (
        "- **Use advisory locks** (decision, 2026-03-02, commit 0123456 by Ada)\n\n"
        "commit `0123456789` Use advisory locks, not Redis (Ada, 2026-03-02)  \n"
        "session of 2026-03-02 12:00 UTC (vscode, cli-scan): Made the queue safe"
    )
    assert explanations.hover(found, Style()) == (
        "• Use advisory locks (decision, 2026-03-02, commit 0123456 by Ada)\n"
        "commit 0123456789 Use advisory locks, not Redis (Ada, 2026-03-02)\n"
        "session of 2026-03-02 12:00 UTC (vscode, cli-scan): Made the queue safe"
    )


def test_only_the_nearest_memories_are_named() -> None:
    """Part of D13."""
    found = explanation(*(memory(f"Number {number}") for number in range(5)))
    text = explanations.hover(found, Style())
    assert text is not None
    assert text.splitlines()[2:] == [
        "• Number 2 (decision, 2026-03-02, commit 0123456)",
        "• and 2 more memories",
    ]


def test_where_memory_has_nothing_to_say_there_is_no_hover() -> None:
    """Part of D13."""
    about_file = (Behind(memory=memory(), why="file"),)
    for found in (
        explanation(),
        explanation(origin=origin()),
        explanation(origin=origin(), session=session(None)),
        Explanation(project_id="p", path="a.py", line=1, memories=about_file, origin=origin()),
    ):
        assert explanations.hover(found, MARKDOWN) is None
    assert explanations.hover(explanation(session=session()), MARKDOWN) is not None


def test_what_a_session_was_about_is_said_once() -> None:
    """Part of D13."""
    about = memory("Made the queue safe", type="episodic", session_id=ID)
    text = explanations.hover(explanation(memory(), about, session=session()), Style())
    assert text is not None
    assert len(text.splitlines()) == 2
    text = explanations.hover(explanation(about, session=session(None)), Style())
    assert text is not None
    assert text.startswith("• Made the queue safe")


def test_links_lead_to_commands_of_the_client() -> None:
    """Part of D13."""
    style = Style(is_markdown=True, links=LINKS)
    text = explanations.hover(explanation(memory(), origin=origin(), session=session()), style)
    assert text is not None
    argument = f"%5B%22{ID}%22%5D"
    assert f"[**Use advisory locks**](command:threadline.openMemory?{argument})" in text
    assert f"[`0123456789`](command:git.show?%5B%22{SHA}%22%5D)" in text
    assert f"[session of 2026-03-02 12:00 UTC](command:threadline.openSession?{argument})" in text
    plain = explanations.hover(explanation(memory()), Style(links=LINKS))
    assert plain is not None
    assert "command:" not in plain


@given(title=SPITEFUL, subject=SPITEFUL, author=SPITEFUL, summary=SPITEFUL)
def test_nothing_that_is_quoted_becomes_more_than_words(
    title: str, subject: str, author: str, summary: str
) -> None:
    """Part of D11 and D13."""
    found = explanation(
        memory(title, agent_id=author), origin=origin(subject, author), session=session(summary)
    )
    for style in (MARKDOWN, Style(is_markdown=True, links=LINKS)):
        text = explanations.hover(found, style)
        assert text is not None
        lines = text.split("\n")
        assert len(lines) == 4
        assert lines[0].startswith(("- **", "- [**"))
        assert max(map(len, lines)) < 1500
        # Every sign that could begin something is escaped, but for our own.
        bare = re.sub(r"\\.", "", text).replace("**", "").replace("`0123456789`", "")
        bare = re.sub(r"\[[^\[\]]*\]\(command:(?:threadline|git)\.\w+\?[%\w]+\)", "", bare)
        assert re.search(r"[\[\]<>`*]", bare) is None, bare
        assert all(unicodedata.category(one) not in {"Cc", "Cf"} for one in "".join(lines))


def test_a_lens_counts_what_there_is() -> None:
    """Part of D13."""
    story = FileStory(project_id="p", path="a.py", memory_count=3, session_count=1)
    assert explanations.lens(story) == "3 memories · 1 session"
    assert explanations.lens(FileStory(project_id="p", path="a", session_count=2)) == "2 sessions"
    assert explanations.lens(FileStory(project_id="p", path="a")) is None


def test_a_files_story_is_told_in_a_few_lines() -> None:
    """Part of D13."""
    story = FileStory(
        project_id="p",
        path="a.py",
        memories=tuple(memory(f"Number {number}") for number in range(6)),
        memory_count=8,
        sessions=(session(),),
        session_count=1,
    )
    lines = explanations.summary(story).splitlines()
    assert lines[0] == "a.py: 8 memories · 1 session"
    assert lines[1] == "- Number 0 (decision, 2026-03-02, commit 0123456)"
    assert lines[-2:] == ["- and 3 more memories", "last worked on 2026-03-02 12:00 UTC"]
    nothing = FileStory(project_id="p", path="a.py")
    assert explanations.summary(nothing) == "a.py: nothing is known about it"
