"""Files of other programs are edited in place: what is not ours keeps every byte."""

import json
import os
import time
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.hosts import jsonc, toml_tables
from sidecar.hosts.jsonc import MalformedError

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("THREADLINE_EXAMPLES", "25"))

keys = st.text(max_size=6) | st.sampled_from(["hooks", "mcpServers", "a", "b"])
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
) | st.text(max_size=12)
values = st.recursive(
    scalars,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(keys, below, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(keys, values, max_size=5)
gaps = st.sampled_from(
    ["", " ", "\n", "\n\n", "\t", "  ", "// a {comment}, [1]\n", "/* one, more */", "\n  // x\n\t"]
)


@st.composite
def texts(draw: st.DrawFn, value: object, newline: str) -> str:
    """Write a value as somebody might: with comments, odd spaces and trailing commas."""

    def gap() -> str:
        return draw(gaps)

    def write(part: object) -> str:
        if isinstance(part, dict):
            items = [
                gap()
                + json.dumps(key, ensure_ascii=draw(st.booleans()))
                + gap()
                + ":"
                + gap()
                + write(below)
                for key, below in part.items()
            ]
            return "{" + joined(items) + "}"
        if isinstance(part, list):
            return "[" + joined([gap() + write(below) for below in part]) + "]"
        return json.dumps(part)

    def joined(items: list[str]) -> str:
        text = ",".join(item + gap() for item in items)
        has_comma: bool = draw(st.booleans())
        return text + ("," + gap() if items and has_comma else gap())

    bom = draw(st.sampled_from(["", "\ufeff"]))
    return bom + (gap() + write(value) + gap()).replace("\n", newline)


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, dict[str, Any], dict[str, Any]]:
    old = draw(objects)
    new = draw(objects | st.just(old).map(lambda same: {**same, "z": [1, {"y": 2}]}))
    kept = {key: old[key] for key in old if draw(st.booleans())}
    return draw(texts(old, draw(st.sampled_from(["\n", "\r\n"])))), old, {**kept, **new}


def read(text: str) -> object:
    root = jsonc.parse(text)
    assert root is not None
    return root.value


@given(edits())
@settings(max_examples=EXAMPLES, deadline=None)
def test_an_edited_text_says_what_was_meant(
    case: tuple[str, dict[str, Any], dict[str, Any]],
) -> None:
    """Part of F3."""
    text, old, new = case
    assert jsonc.is_same(read(text), old)
    assert jsonc.is_same(read(jsonc.edit(text, new)), new)


@given(edits())
@settings(max_examples=EXAMPLES, deadline=None)
def test_an_edit_that_changes_nothing_changes_no_byte(
    case: tuple[str, dict[str, Any], dict[str, Any]],
) -> None:
    """Part of F3."""
    text, old, _ = case
    assert jsonc.edit(text, old) == text
    edited = jsonc.edit(text, {**old, "ours": {"a": [1]}})
    assert jsonc.edit(edited, {**old, "ours": {"a": [1]}}) == edited


@given(edits())
@settings(max_examples=EXAMPLES, deadline=None)
def test_an_added_entry_leaves_all_other_bytes_in_their_order(
    case: tuple[str, dict[str, Any], dict[str, Any]],
) -> None:
    """Part of F3."""
    text, old, _ = case
    edited = jsonc.edit(text, {**old, "threadline": {"command": "x", "args": ["mcp"]}})
    rest = iter(edited)
    assert all(
        letter in rest for letter in (text if old else text.replace("\t", "").replace(" ", ""))
    )
    assert jsonc.find_comments(edited) == jsonc.find_comments(text)
    assert edited.startswith("\ufeff") == text.startswith("\ufeff")
    if "\r\n" in text:
        assert "\n" not in edited.replace("\r\n", "")


@given(objects, st.sampled_from([None, 2, 4, "\t"]), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=EXAMPLES, deadline=None)
def test_what_was_added_to_a_plain_text_is_taken_out_to_the_byte(
    old: dict[str, Any], indent: "int | str | None", newline: str
) -> None:
    """Part of F3."""
    text = (json.dumps(old, indent=indent) + "\n").replace("\n", newline)
    given_ = {**old, "threadline": {"command": "x", "args": ["mcp"]}}
    if "threadline" not in old:
        assert jsonc.edit(jsonc.edit(text, given_), old) == text


LAYOUTS = {
    "in the style of the file": (
        '{\n\t"a": {\n\t\t"b": 1 // one\n\t}\n}',
        {"a": {"b": 1, "c": [True]}},
        '{\n\t"a": {\n\t\t"b": 1, // one\n\t\t"c": [\n\t\t\ttrue\n\t\t]\n\t}\n}',
    ),
    "after a trailing comma": (
        '{\n  "a": 1,\n}\n',
        {"a": 1, "b": 2},
        '{\n  "a": 1,\n  "b": 2,\n}\n',
    ),
    "on one line": ('{"a": [1]}', {"a": [1, 2], "b": {}}, '{"a": [1, 2], "b": {}}'),
    "tightly": ('{"a":[1],"b":2}', {"a": [1], "b": 2, "c": [3, 4]}, '{"a":[1],"b":2,"c":[3,4]}'),
    "into an empty one": ("{}", {"a": 1}, '{\n  "a": 1\n}'),
    "into one that holds a comment": (
        "{\n  // nothing yet\n}\n",
        {"a": 1},
        '{\n  // nothing yet\n  "a": 1\n}\n',
    ),
    "into nothing": ("", {"a": 1}, '{\n  "a": 1\n}\n'),
    "an item between others": ("[\n  1,\n  3\n]", [1, 2, 3], "[\n  1,\n  2,\n  3\n]"),
    "without its line": (
        '{\n  "a": 1,\n  // about b\n  "b": 2 // end\n}',
        {"a": 1},
        '{\n  "a": 1\n  // about b\n  // end\n}',
    ),
    "the last of several": ('{\r\n  "a": 1,\r\n  "b": 2\r\n}', {"a": 1}, '{\r\n  "a": 1\r\n}'),
    "the first of several": ('{"a": 1, "b": 2}', {"b": 2}, '{"b": 2}'),
    "the only one": ('{\n  "a": {\n    "b": 1\n  }\n}', {"a": {}}, '{\n  "a": {}\n}'),
    "the last of two equal names": ('{"a": 1, "a": 2}', {"a": 3}, '{"a": 1, "a": 3}'),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_an_entry_is_put_in_or_taken_out(name: str) -> None:
    """Part of F3."""
    text, new, expected = LAYOUTS[name]
    assert jsonc.edit(text, new) == expected


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ('{"a": nope}', "line 1, column 7"),
        ('{"a": 1', "line 1, column 1"),
        ('{"a": 1}}', "line 1, column 9"),
        ('{"a": "x\ny"}', "line 1, column 7"),
        ("{\n/* open", "line 2, column 1"),
        ("[1}", "line 1, column 3"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 01}', "line 1, column 7"),
        ('{"a" 1}', "line 1, column 6"),
        ('{"a": NaN}', "line 1, column 7"),
        ('{"b": [{"a": NaN}]}', "line 1, column 14"),
        ('{"a": 1,, "b": 2}', "line 1, column 9"),
    ],
)
def test_a_malformed_text_is_refused_with_its_place(text: str, place: str) -> None:
    """Part of F3."""
    with pytest.raises(MalformedError, match=place):
        jsonc.parse(text)


def test_a_doubled_name_is_never_removed_by_half() -> None:
    with pytest.raises(MalformedError, match="twice"):
        jsonc.edit('{"a": 1, "a": 2, "b": 3}', {"b": 3})


def test_a_text_that_is_nested_too_deeply_is_refused() -> None:
    depth = 10_000
    with pytest.raises(MalformedError, match="too deeply"):
        jsonc.parse('{"a": ' + "[" * depth + "]" * depth + "}")


def test_a_large_text_is_changed_at_once() -> None:
    large = json.dumps(
        {"projects": {f"/p/{n}": {"history": ["x" * 90] * 9} for n in range(500)}}, indent=2
    )
    began = time.process_time()
    edited = jsonc.edit(large, {**json.loads(large), "mcpServers": {}})
    assert time.process_time() - began < 3
    assert edited == large[:-2] + ',\n  "mcpServers": {}\n}'


def test_a_loose_text_may_have_bare_names_and_single_quotes() -> None:
    odd = "{a: [NaN, +.5e1, 'x\\\ny'], b: 1}"
    root = jsonc.parse(odd, is_loose=True)
    assert root is not None
    assert isinstance(root.value, dict)
    assert jsonc.edit(odd, {**root.value, "b": 2}, is_loose=True) == odd.replace("b: 1", "b: 2")
    text = "{\n  // mine\n  gateway: { port: 0x10, bind: 'it\\'s', },\n}\n"
    root = jsonc.parse(text, is_loose=True)
    assert root is not None
    assert root.value == {"gateway": {"port": 16, "bind": "it's"}}
    edited = jsonc.edit(text, {**root.value, "mcp": {"a": 1}}, is_loose=True)
    assert edited == (
        "{\n  // mine\n  gateway: { port: 0x10, bind: 'it\\'s', },\n"
        '  "mcp": {\n    "a": 1\n  },\n}\n'
    )


TABLE = ("mcp_servers", "threadline")
OURS = {"command": '/opt/it\'s "here"\\bin', "args": ["mcp"]}
TOML = '''# my settings
model = "o9" # fast
since = 2026-01-02T03:04:05Z
notes = """
[mcp_servers.threadline]
not a table"""
list = [
  "[mcp_servers.threadline]",
]

[mcp_servers.other] # theirs
command = 'x'

[mcp_servers.other.env]
A = "1"

# about profiles
[[profiles]]
name = "a"
'''


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("text", [TOML, TOML.rstrip(), "", "[mcp_servers]\n"])
def test_a_table_is_added_once_and_taken_out_to_the_byte(text: str, newline: str) -> None:
    """Part of F3."""
    given_ = text.replace("\n", newline)
    added = toml_tables.put(given_, TABLE, OURS)
    assert added.startswith(given_)
    assert toml_tables.dig(tomllib.loads(added), TABLE) == OURS
    assert toml_tables.put(added, TABLE, OURS) == added
    assert toml_tables.drop(added, TABLE).rstrip() == given_.rstrip()
    if given_.endswith("\n") or not given_:
        assert toml_tables.drop(added, TABLE) == given_


def test_an_older_table_is_changed_where_it_stands() -> None:
    """Part of F3."""
    text = TOML.replace(
        "[mcp_servers.other]",
        '[ mcp_servers . "threadline" ]\ncommand = "old" # gone\nstartup_timeout_sec = 20\n\n[mcp_servers.other]',
    )
    changed = toml_tables.put(text, TABLE, {"command": "new", "args": ["mcp"]})
    assert changed == text.replace('command = "old" # gone', 'command = "new"').replace(
        '"threadline" ]\n', '"threadline" ]\nargs = ["mcp"]\n'
    )
    assert toml_tables.drop(changed, TABLE) == TOML


def test_a_table_of_several_parts_and_lines_is_changed_and_taken_out() -> None:
    """Part of F3."""
    table = (
        '[mcp_servers.threadline]\nargs = [\n  "mcp", # why\n]\nlists = [\n[1],\n]\n\n'
        '[mcp_servers.threadline.env]\nA = "[b]"\n'
    )
    text = f"{TOML}\n{table}\n# the end\n"
    changed = toml_tables.put(text, TABLE, {"args": ["mcp", "--all"]})
    assert changed == text.replace('args = [\n  "mcp", # why\n]', 'args = ["mcp", "--all"]')
    assert toml_tables.drop(changed, TABLE) == f"{TOML}\n# the end\n"


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers.threadline.command = "old"\n',
        'mcp_servers = { threadline = { command = "old" } }\n',
        "mcp_servers = { other = { command = 'x' } }\n",
        '[mcp_servers]\nthreadline = { command = "old" }\n',
    ],
)
def test_a_table_written_in_another_way_is_not_guessed_at(text: str) -> None:
    with pytest.raises(MalformedError, match="by hand"):
        toml_tables.put(text, TABLE, OURS)


def test_malformed_toml_is_refused_with_its_place() -> None:
    """Part of F3."""
    with pytest.raises(MalformedError, match="line 2, column 5"):
        toml_tables.put("a = 1\nb = = 2\n", TABLE, OURS)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,5}", fullmatch=True),
        st.integers() | st.text(max_size=8),
        max_size=4,
    ),
    st.text(max_size=20),
)
@settings(max_examples=EXAMPLES, deadline=None)
def test_a_table_beside_any_others_says_what_was_meant(
    others: dict[str, "int | str"], command: str
) -> None:
    text = "".join(
        f"[t{n}]\n{key} = {toml_tables._literal(value)}\n"
        for n, (key, value) in enumerate(others.items())
    )
    values_ = {"command": command, "args": ["mcp", command]}
    added = toml_tables.put(text, TABLE, values_)
    assert added.startswith(text)
    assert toml_tables.dig(tomllib.loads(added), TABLE) == values_
    assert toml_tables.drop(added, TABLE) == text
