"""Symbols are found in every language we know, and only their meaning changes their digest."""

import subprocess
import sys
import textwrap

import pytest

from sidecar.code import symbols
from sidecar.memory.rules.drift import Symbol
from tests.support import ROOT


def find(path: str, source: bytes) -> tuple[Symbol, ...]:
    return symbols.find(path, source, ROOT)


def names(path: str, source: str) -> list[str]:
    return [symbol.name for symbol in find(path, textwrap.dedent(source).encode())]


def by_name(path: str, source: str) -> dict[str, Symbol]:
    found = find(path, textwrap.dedent(source).encode())
    return {symbol.name: symbol for symbol in found}


LANGUAGES = {
    "a.py": (
        """
        LIMIT = 3
        class Store(Base):
            size: int = 3
            def open(self): ...
            @property
            def is_open(self): ...
            class Inner:
                async def run(self): ...
        if LIMIT:
            def helper(): ...
        try:
            import x
        except ImportError:
            x = None
        """,
        "LIMIT Store Store.size Store.open Store.is_open Store.Inner Store.Inner.run helper x",
    ),
    "a.c": (
        """
        #define MAX 3
        struct store { int size; };
        typedef struct { int x; } point;
        static int limit = 3;
        int *open_store(const char *name) { return 0; }
        enum kind { A, B };
        """,
        "MAX store point limit open_store kind",
    ),
    "a.cpp": (
        """
        namespace n {
        class Store : Base {
         public:
          int open(int a) const { return 1; }
          int size = 3;
          ~Store();
        };
        }
        int n::Store::close() { return 2; }
        template <typename T> T largest(T a) { return a; }
        using Id = int;
        """,
        "Store Store.open Store.size Store.~Store Store.close largest Id",
    ),
    "a.cs": (
        """
        namespace N.M;
        class Store : Base {
            int size = 3;
            public int Limit { get; set; }
            public Store() {}
            void Open(int a) { Close(); }
            enum Kind { A }
            interface IInner { void Run(); }
        }
        record Point(int X);
        """,
        (
            "Store Store.size Store.Limit Store.Store Store.Open Store.Kind Store.IInner"
            " Store.IInner.Run Point"
        ),
    ),
    "a.go": (
        """
        package a
        const Limit = 3
        type Store struct { size int }
        func (s *Store) Open() error { return nil }
        func (s Cache[K]) Get() {}
        func helper() { x := 1 }
        """,
        "Limit Store Store.Open Cache.Get helper",
    ),
    "a.java": (
        """
        package a;
        class Store<T> extends Base {
            static final int LIMIT = 3;
            Store() {}
            @Override public int open(int a) { int y = 3; return 1; }
            enum Kind { A; int rank() { return 1; } }
            record Point(int x) {}
        }
        """,
        "Store Store.LIMIT Store.Store Store.open Store.Kind Store.Kind.rank Store.Point",
    ),
    "a.jsx": (
        """
        export default function App() { const inner = 1; return <div>hi</div>; }
        class Store { size = 3; open() {} #secret() {} static make = () => 1 }
        const helper = (a) => { const local = 1 }, other = 3;
        exports.load = function () {};
        Store.prototype.close = () => 1;
        let plain;
        plain = 3;
        """,
        (
            "App Store Store.size Store.open Store.#secret Store.make helper other load Store.close"
            " plain"
        ),
    ),
    "a.ts": (
        """
        export interface Shape { a: string }
        type Id = string;
        enum Kind { A }
        abstract class Store<T> { private size: number = 3; abstract open(): void; close() {} }
        namespace inner { export function run() {} }
        export const helper = async () => 1;
        declare function outside(): void;
        """,
        "Shape Id Kind Store Store.size Store.open Store.close inner inner.run helper outside",
    ),
    "a.tsx": ("export const View = () => <b>hi</b>;\nfunction use<T,>() {}\n", "View use"),
    "a.php": (
        """
        <?php
        namespace N;
        function helper() {}
        class Store { const LIMIT = 1; private $size = 3; function open() { $x = 1; } }
        trait Opens { function run() {} }
        """,
        "helper Store Store.LIMIT Store.size Store.open Opens Opens.run",
    ),
    "a.rb": (
        """
        module Files
          class Store < Base
            LIMIT = 1
            def open(a)
              y = 1
            end
            def self.make; end
          end
        end
        """,
        "Files Files.Store Files.Store.LIMIT Files.Store.open Files.Store.make",
    ),
    "a.rs": (
        """
        const LIMIT: i32 = 3;
        mod inner { pub fn run() {} }
        struct Store<T> { size: T }
        impl<T> Store<T> { fn open(&self) {} }
        impl Opens for Store<i32> { fn close() {} }
        trait Opens { fn close(); }
        macro_rules! shout { () => {} }
        """,
        "LIMIT inner inner.run Store Store.open Store.close Opens Opens.close shout",
    ),
}


@pytest.mark.parametrize("path", LANGUAGES)
def test_symbols_are_found(path: str) -> None:
    """Part of C9."""
    source, expected = LANGUAGES[path]
    assert names(path, source) == expected.split()


@pytest.mark.parametrize("path", LANGUAGES)
def test_a_broken_file_still_gives_what_can_be_found(path: str) -> None:
    """Part of C9."""
    source, expected = LANGUAGES[path]
    broken = textwrap.dedent(source) + "\n\n)) } else ((( class def fn { ==\n"
    assert set(names(path, broken)) & set(expected.split())


@pytest.mark.parametrize("path", LANGUAGES)
def test_every_symbol_of_a_language_is_within_the_file(path: str) -> None:
    """Part of C9."""
    source = textwrap.dedent(LANGUAGES[path][0])
    lines = source.split("\n")
    for symbol in find(path, source.encode()):
        text = "\n".join(lines[symbol.first - 1 : symbol.last])
        assert symbol.short.strip("~#") in text


LAYOUTS = {
    "a.py": (
        "def load(a, b=1):\n    return f(a, 'x') + 1\n",
        (
            '@x\nclass A: pass\n\n# why\ndef load(\n    a,\n    b=1,\n):\n    """Load."""\n'
            '    # because\n    return (f(a, "x")\n            + 1)\n'
        ),
        "def load(a, b=2):\n    return f(a, 'x') + 1\n",
    ),
    "a.ts": (
        "export function load(a: string, b = 1) { return f(a, 'x'); }\n",
        (
            "const other = 1;\n/** Why. */\nexport function load(\n  a: string,\n  b = 1,\n) {\n"
            '  // because\n  return f(a, "x")\n}\n'
        ),
        "export function load(a: string, b = 2) { return f(a, 'x'); }\n",
    ),
    "a.go": (
        "package a\nfunc load(a int) int { return f(a, 1) }\n",
        "package a\n\n// Why.\nfunc load(\n\ta int,\n) int {\n\t// because\n\treturn f(a, 1)\n}\n",
        "package a\nfunc load(a int) int { return f(a, 2) }\n",
    ),
    "a.rs": (
        "fn load(a: i32) -> i32 { f(a, 1) }\n",
        "/// Why.\nfn load(\n    a: i32,\n) -> i32 {\n    /* because */\n    f(a, 1)\n}\n",
        "fn load(a: i64) -> i32 { f(a, 1) }\n",
    ),
    "a.java": (
        "class A { int load(int a) { return f(a, 1); } }\n",
        "class A {\n  int x;\n  /** Why. */\n  int load(int a)\n  {\n    // because\n    return f(a, 1);\n  }\n}\n",
        "class A { int load(int a) { return f(a, 2); } }\n",
    ),
    "a.rb": (
        "def load(a)\n  f(a, 'x')\nend\n",
        '# why\ndef load( a )\n\n  # because\n  f(a, "x")\nend\n',
        "def load(a)\n  f(a, 'y')\nend\n",
    ),
}


@pytest.mark.parametrize("path", LAYOUTS)
def test_layout_and_comments_do_not_change_a_digest_but_meaning_does(path: str) -> None:
    """Part of C9."""
    found = [
        next(one for one in find(path, source.encode()) if one.short == "load")
        for source in LAYOUTS[path]
    ]
    assert found[0].digest == found[1].digest != found[2].digest


def test_a_class_is_not_changed_by_its_members() -> None:
    """Part of C9."""
    old = by_name("a.py", "class A(B):\n    x = 1\n    def f(self): return 1\n")
    new = by_name(
        "a.py", "class A(B):\n    y = 1\n    def f(self): return 2\n    def g(self): ...\n"
    )
    other = by_name("a.py", "class A(C):\n    x = 1\n    def f(self): return 1\n")
    assert old["A"].digest == new["A"].digest != other["A"].digest
    assert old["A.f"].digest != new["A.f"].digest
    old = by_name("a.java", "class A extends B { int x; int f() { return 1; } }")
    new = by_name("a.java", "class A extends B { int y; int f() { return 2; } void g() {} }")
    other = by_name("a.java", "class A extends C { int x; int f() { return 1; } }")
    assert old["A"].digest == new["A"].digest != other["A"].digest


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.py", "def f(n): return f(n - 1)", "def g(n): return g(n - 1)"),
        ("a.ts", "function f(n) { return f(n - 1) }", "function g(n) { return g(n - 1) }"),
    ],
)
def test_a_shape_outlives_a_renaming(path: str, old: str, new: str) -> None:
    """Part of C9."""
    (before,), (after,) = find(path, old.encode()), find(path, new.encode())
    assert before.shape == after.shape
    assert before.digest != after.digest


def test_lines_are_those_of_the_whole_symbol() -> None:
    """Part of C9."""
    found = by_name("a.py", "\nimport x\n\n@x\n@y(1)\ndef f():\n    a\n    b\n\nz = (\n    1\n)\n")
    assert (found["f"].first, found["f"].last) == (4, 8)
    assert (found["z"].first, found["z"].last) == (10, 12)
    found = by_name("a.go", "package a\n\nfunc f() {\n\tx()\n}\nfunc g() {}")
    assert (found["f"].first, found["f"].last) == (3, 5)
    assert (found["g"].first, found["g"].last) == (6, 6)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.txt", b"def f(): pass\n"),
        ("Makefile", b"f:\n"),
        (".py", b""),
        ("a.py", b"\0\xff\xfe"),
        ("a.py", b"x = '" + b"x" * 1_000_000 + b"'\n"),
        ("a.js", b"var a\0b = 1"),
        ("a.ts", b"(" * 300_000),
        ("a.go", b"\xff\xfe\xfd" * 1_000),
        ("a.py", b"(" * 100_000),
        ("a.py", b"# -*- coding: nonsense -*-\n"),
        ("a.c", b"{" * 100_000),
        ("a.rb", b"<<~X\n" * 1_000),
    ],
)
def test_what_cannot_be_parsed_has_no_symbols(path: str, source: bytes) -> None:
    """Part of C9."""
    assert find(path, source) == ()


def test_odd_names_and_encodings_are_survived() -> None:
    """Part of C9."""
    source = "# -*- coding: latin-1 -*-\ndef größe():\n    return 'é'\n".encode("latin-1")
    assert [one.name for one in find("A.PY", source)] == ["größe"]
    assert [one.name for one in find("a.js", b"function \xff() {}\nfunction ok() {}")][-1:] == [
        "ok"
    ]
    assert names("a.py", f"{'x' * 300} = 1\ny = '\\ud800'\n") == ["y"]


def test_a_warning_of_the_parser_is_nobodys_business() -> None:
    """Part of C9."""
    assert names("a.py", 'def f():\n    return "\\d" is 1\n') == ["f"]


def test_a_deep_tree_is_no_danger() -> None:
    """Part of C9."""
    deep = "x = " + " + ".join(["1"] * 3_000) + "\ndef f(): ...\n"
    assert names("a.py", deep)[-1:] == ["f"]
    assert names("a.js", "function f() { return " + "[" * 20_000 + "]" * 20_000 + " }") == ["f"]


@pytest.mark.slow
@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", "a = " * 40_000 + "1"),
        ("a.js", "var " + "a, " * 40_000 + "b;"),
        ("a.ts", "namespace a {" * 40_000 + "}" * 40_000),
        ("a.java", "class A {" * 40_000 + "}" * 40_000),
        ("a.rs", "mod a {" * 40_000 + "}" * 40_000),
        ("a.rb", "module A;" * 40_000 + "end;" * 40_000),
        ("a.c", "int " + "(" * 40_000 + "a" + ")" * 40_000 + ";"),
    ],
)
def test_no_file_takes_for_ever(path: str, source: str) -> None:
    """Part of C9."""
    assert isinstance(find(path, source.encode()), tuple)


@pytest.mark.slow
def test_many_files_do_not_wear_the_parser_out() -> None:
    """Part of C9: the process must live, whatever the parser frees."""
    source = textwrap.dedent(LANGUAGES["a.ts"][0]) * 200
    for _ in range(5):
        assert len(find("a.ts", source.encode())) == 200 * 11


@pytest.mark.slow
def test_no_grammar_is_loaded_before_it_is_needed() -> None:
    """Part of C9."""
    script = (
        "import sys\nfrom sidecar.code import symbols\n"
        "symbols.parse('a.py', b'x = 1')\nassert 'tree_sitter' not in sys.modules\n"
        "symbols.parse('a.go', b'package a')\nassert 'tree_sitter_go' in sys.modules\n"
        "assert 'tree_sitter_rust' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
