"""Symbols by tree-sitter; grammars load on first use."""

import functools
import importlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from sidecar.code.python_symbols import Found

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser


class Grammar(Struct, frozen=True):
    """How a language names what it defines."""

    module: str
    containers: frozenset[str]
    """Nodes with a name whose members are symbols of their own."""
    symbols: frozenset[str]
    """Nodes with a name that are taken whole."""
    function: str = "language"


def _kinds(words: str) -> frozenset[str]:
    return frozenset(words.split())


_C_SYMBOLS = (
    "function_definition declaration type_definition struct_specifier union_specifier "
    "enum_specifier preproc_def preproc_function_def"
)
_JS_SYMBOLS = (
    "function_declaration generator_function_declaration method_definition field_definition "
    "variable_declarator assignment_expression"
)
_TS_SYMBOLS = (
    f"{_JS_SYMBOLS} public_field_definition interface_declaration type_alias_declaration "
    "enum_declaration function_signature abstract_method_signature"
)
_TS_CONTAINERS = _kinds("class_declaration abstract_class_declaration internal_module module")

_C = Grammar("tree_sitter_c", frozenset(), _kinds(_C_SYMBOLS))
_CPP = Grammar(
    "tree_sitter_cpp",
    _kinds("class_specifier struct_specifier union_specifier"),
    _kinds(_C_SYMBOLS + " field_declaration alias_declaration concept_definition")
    - _kinds("struct_specifier union_specifier"),
)
_CSHARP = Grammar(
    "tree_sitter_c_sharp",
    _kinds("class_declaration struct_declaration interface_declaration record_declaration"),
    _kinds(
        "method_declaration constructor_declaration destructor_declaration property_declaration "
        "variable_declarator enum_declaration delegate_declaration event_declaration "
        "local_function_statement"
    ),
)
_GO = Grammar(
    "tree_sitter_go",
    frozenset(),
    _kinds("function_declaration method_declaration type_spec type_alias const_spec var_spec"),
)
_JAVA = Grammar(
    "tree_sitter_java",
    _kinds("class_declaration interface_declaration enum_declaration record_declaration"),
    _kinds(
        "method_declaration constructor_declaration compact_constructor_declaration "
        "variable_declarator annotation_type_declaration"
    ),
)
_JAVASCRIPT = Grammar("tree_sitter_javascript", _kinds("class_declaration"), _kinds(_JS_SYMBOLS))
_TYPESCRIPT = Grammar(
    "tree_sitter_typescript", _TS_CONTAINERS, _kinds(_TS_SYMBOLS), "language_typescript"
)
_TSX = Grammar("tree_sitter_typescript", _TS_CONTAINERS, _kinds(_TS_SYMBOLS), "language_tsx")
_PHP = Grammar(
    "tree_sitter_php",
    _kinds("class_declaration interface_declaration trait_declaration enum_declaration"),
    _kinds("function_definition method_declaration const_element property_element"),
    "language_php",
)
_RUBY = Grammar(
    "tree_sitter_ruby", _kinds("class module"), _kinds("method singleton_method assignment")
)
_RUST = Grammar(
    "tree_sitter_rust",
    _kinds("impl_item trait_item mod_item"),
    _kinds(
        "function_item function_signature_item struct_item enum_item union_item const_item "
        "static_item type_item macro_definition"
    ),
)
LANGUAGES = {
    "c": _C,
    # Which of the two a plain header is nobody knows; C is nearly all C++.
    **dict.fromkeys(("cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "ipp"), _CPP),
    "cs": _CSHARP,
    "go": _GO,
    "java": _JAVA,
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), _JAVASCRIPT),
    **dict.fromkeys(("ts", "mts", "cts"), _TYPESCRIPT),
    "tsx": _TSX,
    **dict.fromkeys(("php", "phtml"), _PHP),
    **dict.fromkeys(("rb", "rake"), _RUBY),
    "rs": _RUST,
}
"""By the ending of a file's name."""

_BODIES = _kinds(
    "block compound_statement do_block arrow_function function_expression lambda lambda_expression "
    "func_literal closure_expression anonymous_function"
)
"""What stands in these is nobody's member."""
_NAMES = _kinds("constant name destructor_name operator_name variable_name scope_resolution")
_NAME_FIELDS = ("name", "declarator", "property", "left", "type")
_DECLARATIONS = _kinds(
    "lexical_declaration variable_declaration field_declaration const_declaration "
    "property_declaration"
)
"""What is wrapped round a single name with its type and modifiers."""
_DEPTH = 8
"""How deep names may be wrapped and nested."""
_NEWLINE = 0x0A
_CLOSING = frozenset({")", "]", "}"})


def find(ending: str, source: bytes) -> list[Found]:
    """Return what a file defines, as far as the parser understands it."""
    grammar = LANGUAGES[ending]
    tree = _parser(grammar).parse(source)
    lines = [place for place, byte in enumerate(source) if byte == _NEWLINE]
    return list(_walk(tree.root_node, grammar, lines)) if tree else []


@functools.cache
def _language(grammar: Grammar) -> "Language":
    from tree_sitter import Language  # noqa: PLC0415  # late: only who needs it waits for it

    return Language(getattr(importlib.import_module(grammar.module), grammar.function)())


def _parser(grammar: Grammar) -> "Parser":
    """Return a new parser: threads must not share one."""
    from tree_sitter import Parser  # noqa: PLC0415  # late: only who needs it waits for it

    return Parser(_language(grammar))


def _walk(root: "Node", grammar: Grammar, lines: list[int]) -> Iterator[Found]:
    """Yield definitions, outermost first, without descending into function bodies."""
    kinds = grammar.containers | grammar.symbols
    waiting: list[tuple[Node, str, Node]] = [(root, "", root)]
    while waiting:
        node, prefix, whole = waiting.pop()
        name = _name(node) if node.type in kinds and _is_definition(node) else None
        if name and node.type != "impl_item":
            # Points of tree-sitter 0.26.0 free what they do not own: lines are counted here instead.
            first, last = (bisect_left(lines, at) + 1 for at in _extent(whole))
            yield Found(prefix + name, first, last, _tokens(whole, _members(node, grammar)))
        is_whole = bool(name) and node.type in grammar.symbols
        if not is_whole and node.type not in _BODIES and prefix.count(".") < _DEPTH:
            inner = f"{prefix}{name}." if name else prefix
            waiting += [(child, inner, outer) for child, outer in _children(node, whole)]


def _children(node: "Node", whole: "Node") -> "Iterator[tuple[Node, Node]]":
    """Return what is in a node, last first, each with all that belongs to it alone.

    A name takes its type and its modifiers with it, where it shares them with no other.
    """
    children = node.named_children
    is_shared = node.type not in _DECLARATIONS
    kinds = Counter() if is_shared else Counter(child.type for child in children)
    for child in reversed(children):
        yield child, whole if kinds[child.type] == 1 else child


def _is_definition(node: "Node") -> bool:
    """Return whether a node is a definition, not the use of a type or the assignment of a plain value."""
    if node.type.endswith("_specifier") or node.type == "mod_item":
        return node.child_by_field_name("body") is not None
    if node.type == "assignment_expression":
        right = node.child_by_field_name("right")
        return right is not None and ("function" in right.type or right.type == "class")
    if node.type == "assignment":
        left = node.child_by_field_name("left")
        return left is not None and left.type == "constant"
    return True


def _name(node: "Node") -> str | None:
    inner: Node | None = node
    for _ in range(_DEPTH):
        inner = _naming(inner) if inner else None
        if inner and (inner.type.endswith("identifier") or inner.type in _NAMES):
            return _qualified(_text(inner), node.child_by_field_name("receiver"))
        if inner and inner.type == "member_expression":
            return _assigned(_text(inner))
    return None


def _naming(node: "Node") -> "Node | None":
    for field in _NAME_FIELDS:
        if child := node.child_by_field_name(field):
            return child
    return node.named_child(0) if node.type in {"const_element", "reference_declarator"} else None


def _qualified(name: str, receiver: "Node | None") -> str:
    parts = [part.partition("<")[0] for part in name.lstrip("$").split("::")][-2:]
    owner = next(_descendants(receiver, "type_identifier"), None) if receiver else None
    return ".".join([_text(owner), *parts] if owner else parts)


def _assigned(name: str) -> str:
    for prefix in ("module.exports.", "exports."):
        name = name.removeprefix(prefix)
    return name.replace(".prototype.", ".")


def _descendants(node: "Node", kind: str) -> Iterator["Node"]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type == kind:
            yield one
        waiting += reversed(one.named_children)


def _extent(node: "Node") -> tuple[int, int]:
    return node.start_byte, max(node.start_byte, node.end_byte - 1)


def _members(node: "Node", grammar: Grammar) -> frozenset[str]:
    if node.type not in grammar.containers:
        return frozenset()
    return grammar.containers | grammar.symbols | _DECLARATIONS


def _tokens(root: "Node", skipped: frozenset[str]) -> list[str]:
    """Yield the tokens that carry meaning: no comments, layout, optional signs or skipped members."""
    tokens: list[str] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if "comment" in node.type or (node is not root and node.type in skipped):
            continue
        if node.child_count:
            waiting += reversed(node.children)
            continue
        word = " ".join(_text(node).split()).replace("'", '"')
        if word in _CLOSING and tokens and tokens[-1] == ",":
            tokens.pop()
        if word and word != ";":
            tokens.append(word)
    return tokens


def _text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")
