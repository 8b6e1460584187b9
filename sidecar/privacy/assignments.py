"""Secrets recognized by the word before them: `password = …`."""

import re
import string
from collections.abc import Iterator
from functools import cache

from sidecar.privacy.token_formats import bits, is_scrambled
from sidecar.text.patterns import late

_STRONG = r"""
    p(?:assw(?:or)?d|ass(?:phrase|code|wort|wd)|ass(?<![a-z]pass)(?![a-z])|w(?<![a-z]pw)(?![a-z])|wd|sk(?![a-z])|rivate[_-]?key|re-?shared[_-]?key|alavra-passe|arola)
  | s(?:ecret|eed[_ -]?phrase|enha|(?:igning|ession|torage|ubscription|ervice|hared)[_-]?key)
  | t(?:oken)
  | a(?:(?:pi|pp|ccess|ccount|uth|dmin|pplication)[_-]?key)
  | c(?:redential|ontrase[ñn]a|lave|(?:onsumer|lient)[_-]?key)
  | e(?:ncryption[_-]?key)
  | d(?:ecryption[_-]?key)
  | m(?:nemonic|aster[_-]?key|ot[ ]de[ ]passe|dp(?![a-z]))
  | l(?:ösenord|icense[_-]?key)
  | w(?:achtwoord)
  | k(?:ennwort)
  | b(?:indpw)
  | (?:db|smtp|user|mail)pass(?![a-z])
  | r(?:ootpw)
  | hasło|пароль|şifre|密码|密碼|口令|パスワード|비밀번호
"""
_WEAK = r"_key(?![a-z0-9_])|_auth(?![a-z0-9_])|-key(?![a-z0-9_-])"
_ASSIGNED = rf"""
    (?: (?P<word>{_STRONG}) (?P<tail>[a-z0-9_.-]{{0,30}}+) | (?P<weak>{_WEAK}) )
    (?:
        (?P<set> \\?["'`]?\)?\]?[ \t]{{0,8}}(?:=>|:=|==?|->|:[ \t]?(?:str|string|&str|text)[ \t|a-z]{{0,12}}=|:|\uff1a)[ \t]{{0,8}}
              | ["'][ \t]{{1,4}}value[ \t]?=[ \t]?
              | ["']?[ \t]{{0,2}}\r?\n[ \t-]{{0,16}}["']?value["']?[ \t]{{0,2}}:[ \t]{{0,2}}
              | >
        )
      | (?P<listed> (?:["'`],[ \t]{{0,4}}|\()(?=["'`]) )
      | (?P<said> (?:[ \t]{{1,3}}(?:for|of|to|on|für|de)[ \t]{{1,3}}[^\s=:"']{{1,40}})?
                  (?:[ \t]{{1,3}}(?:is|was|are|ist|lautet|est|es|é)[ \t]{{1,3}}|[ \t]?(?:は|是|为)[ \t]?) )
      | (?P<beside> [ \t]{{1,4}} )
    )
    (?: \\?"(?P<double>[^"\n]{{4,300}}+)
      | \\?'(?P<single>[^'\n]{{4,300}}+)
      | `(?P<tick>[^`\n]{{4,300}}+)
      | (?P<plain>[^\s"'`,;<>)}}\]]{{4,300}}+)
    )
"""
_STEMS = (
    *("pass", "pwd", "pw", "psk", "secret", "token", "key", "credential", "clave", "contrase"),
    *("auth", "phrase", "mnemonic", "senha", "parola", "mdp", "senord", "wachtwoord", "kennwort"),
    *("hasło", "пароль", "şifre", "密码", "密碼", "口令", "パスワード", "비밀번호"),
)
"""Where there is none, there is no word that matters."""
_SHOWN = 300
"""Letters of a value that are searched for; a longer one goes as a whole."""
_RESTS = {
    "double": re.compile(r"[^\"\n]*+"),
    "single": re.compile(r"[^'\n]*+"),
    "tick": re.compile(r"[^`\n]*+"),
    "plain": re.compile(r"[^\s\"'`,;<>)}\]]*+"),
}
_SHORTEST, _QUOTED, _PHRASE, _LONG = 6, 8, 12, 16
"""Letters from which a value is one at all, in quotes beside a word, a pass phrase though it is a single word,
and a token."""
_PHRASE_WORDS = {4, 12, 15, 18, 21, 24}
"""How many words make a pass phrase, or the seed of a wallet."""
_RANDOM, _WORDY = 3.0, 4.2
"""Bits per letter from which a value looks like chance, and up to which it may be a path."""
_SHORT = {"pass", "pw"}
_BEFORE = 40
_JUDGED = 65
"""Letters of a single word by which it is judged; one more than the longest id has."""
_PATIENCE = 2_000
"""Values in one text that are looked at; no honest text has more."""
_ABOUT = (
    *("type", "url", "uri", "name", "names", "field", "fields", "path", "file", "length"),
    *("count", "limit", "ttl", "ref", "arn", "version", "policy", "size", "endpoint"),
    *("header", "prefix", "hint", "label", "izer", "expiry", "expires", "expiration"),
    *("_id", "-id", "_at", "_in", "schema", "class", "model", "format", "ary", "aries"),
    *("s_per_second", "rotation", "index", "manager"),
)
"""What ends a word that tells about a secret and holds none."""
_OPEN = (
    *("public", "primary", "foreign", "cache", "sort", "partition", "host", "idempotency"),
    *("index", "unique", "group", "object", "row", "query", "map", "lookup", "hash"),
    *("routing", "natural"),
)
"""Keys that open nothing."""
_HARMLESS = late(
    r"(?:true|false|null|none|nil|undefined|required|optional|string|str|int|bool|bytes|any|object|todo"
    r"|bearer|basic|changeme|example|placeholder|hidden|masked|x{3,}|\*{3,}|\.{3,}"
    r"|process\.env.*|os\.(?:environ|getenv).*|env[.:\[].*|self\..*|this\..*|import\.meta.*"
    r"|(?:your|my|the|some|any|a|new|old)[-_ ].*(?:here|key|token|secret|password|value)"
    r"|(?:sha|md|pbkdf|oauth|bcrypt|argon|hs|rs|es|ps|aes|rsa|utf|base|python|http|ipv|v)[-_]?[0-9]{1,4}[a-z]?"
    r"|v?[0-9]{1,4}(?:\.[0-9]{1,6}){1,4}[a-z0-9.+-]{0,20})",
    re.IGNORECASE | re.DOTALL,
)
_BLANKS = ("<", "$", "%", "{", "(")
"""What begins a place for a value."""
_FILLED_IN = ("[REDACTED", "${", "{{")
_CALL = late(r"[A-Za-z_][A-Za-z0-9_.:]{0,80}[(\[]")
_NAMED = late(r"[A-Za-z_]++(?:(?:\.|::|->)[A-Za-z_][A-Za-z0-9_]*+)+")
_ID = late(
    r"[0-9a-f]{7,12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|[0-7][0-9A-HJKMNP-TV-Z]{25}|(?:sha[0-9]{1,3}|md5)[-:=].*"
)
_NO_ID = late(r"sha|md5|[0-7][0-9A-HJKMNP-TV-Z]{25}$")
_COMMIT = late(r"[0-9a-f]{40}")
_HASH = late(r"hash|sha|digest|commit|checksum|fingerprint|etag|revision")
_OPTION = late(r"(?:\s--?[a-z0-9_-]{0,20}|\b(?:env|arg)\s[a-z0-9_]{0,24})$")
"""Before the name of an option, or of what a Dockerfile sets."""
_ARGUMENT = late(r"\(\s?[\"'`][a-z0-9_.-]{0,24}$")
_NUMBERED = late(r"[A-Za-z]++(?:[_./-][A-Za-z]++)+[_-]?[0-9]{0,4}")
"""A name with a number at its end."""
_IDENTIFIER = late(r"[a-z]++(?:_[a-z]++)+[0-9]{0,2}")
_DIGIT, _LETTER = late(r"[0-9]"), late(r"[^\W0-9_]")
_SIGN = late(r"[!@#$%^&*+~?|]")
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def without(text: str, mark: str) -> str:
    """Return a text with a mark in place of the values of words like `password`."""
    lower = _lowered(text)
    if not any(stem in lower for stem in _STEMS):
        return text
    kept: list[str] = []
    done = 0
    for start, end in _spans(text, lower):
        kept += [text[done:start], mark]
        done = end
    return "".join(kept) + text[done:] if kept else text


@cache
def _assigned() -> "re.Pattern[str]":
    return re.compile(_ASSIGNED, re.VERBOSE)


def _spans(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Return where secrets are; beyond the limit of candidates every value counts as one."""
    position = looked = 0
    assigned = _assigned()
    while (found := assigned.search(lower, position)) is not None:
        # The group that closes last is the value.
        way = found.lastgroup or ""
        start, end = found.span(way)
        value = text[start:end].rstrip("\\")
        position = start
        looked += 1
        judged = value if " " in value[:_JUDGED] else value[:_JUDGED]
        if value and (looked > _PATIENCE or _is_secret(found, judged, lower)):
            position = start + len(value)
            if end - start == _SHOWN and (rest := _RESTS[way].match(text, end)) is not None:
                position = rest.end()
            yield start, position


def _lowered(text: str) -> str:
    lower = text.lower()
    return lower if len(lower) == len(text) else text.translate(_ASCII_LOWER)


def _is_secret(found: "re.Match[str]", value: str, lower: str) -> bool:
    """Return whether what follows a word is a value, not prose, code or a name."""
    is_plain = found["plain"] is not None
    if is_plain:
        value = value.rstrip(".:!?")
    if _is_blank(value) or (is_plain and (_CALL.match(value) or _NAMED.fullmatch(value))):
        return False
    before = lower[max(0, found.start() - _BEFORE) : found.start()]
    if found["word"] is None:
        return _is_random(value) and not before.endswith(_OPEN)
    way = next(way for way in _WAYS if found[way] is not None)
    return not found["tail"].endswith(_ABOUT) and _WAYS[way](found, value, before)


def _is_blank(value: str) -> bool:
    if len(value) < _SHORTEST or value.startswith(_BLANKS) or value[0].isspace():
        return True
    return any(sign in value for sign in _FILLED_IN) or _HARMLESS.fullmatch(value) is not None


def _is_set(found: "re.Match[str]", value: str, _before: str) -> bool:
    """Return whether the text after `=` or `:` is a secret."""
    word, tail, sign = found["word"], found["tail"], found["set"]
    if value.isdigit():
        return bool(word.startswith("p"))
    is_tight = sign.strip(" \t\\\"'`)]") == "=" and not sign.endswith((" ", "\t"))
    if _ID.fullmatch(value):
        is_short = len(value) < _LONG and (is_tight or word.startswith("p"))
        return (is_short or _is_id(value)) and not _HASH.search(tail)
    if found["plain"] is None:
        return not _is_prose(value)
    if is_tight or sign == ">":
        return value.lower() not in {word, word + tail} and not _is_name(value)
    return _is_given(value)


def _is_said(found: "re.Match[str]", value: str, _before: str) -> bool:
    """Return whether the text after `is` or `was` is a secret; commit ids and passes are often mentioned like this."""
    if found["word"] in _SHORT:
        return False
    if _ID.fullmatch(value):
        return _is_id(value) and not _COMMIT.fullmatch(value)
    return not _is_prose(value) if found["plain"] is None else _is_given(value)


def _is_listed(found: "re.Match[str]", value: str, before: str) -> bool:
    if found["listed"] == "(":
        return _is_given(value) or ("set" in before and _is_id(value))
    return _is_random(value) or (bool(_ARGUMENT.search(before)) and not _is_prose(value))


def _is_beside(found: "re.Match[str]", value: str, before: str) -> bool:
    is_option = bool(_OPTION.search(before))
    is_told = is_option or (found["plain"] is None and len(value) >= _QUOTED)
    return _is_random(value) or (is_told and _is_given(value)) or (is_option and _is_id(value))


_WAYS = {"set": _is_set, "said": _is_said, "listed": _is_listed, "beside": _is_beside}


def _is_prose(value: str) -> bool:
    words = value.split()
    if len(words) > 1:
        is_phrase = (
            len(words) in _PHRASE_WORDS and value.islower() and value.replace(" ", "").isalpha()
        )
        return not is_phrase and not any(
            _DIGIT.search(word) and _LETTER.search(word) for word in words
        )
    is_word = value.isalpha() and (value.islower() or value.istitle() or value.isupper())
    return (is_word and len(value) < _PHRASE) or _is_name(value)


def _is_given(value: str) -> bool:
    is_odd = bool(_DIGIT.search(value)) or (len(value) >= _QUOTED and bool(_SIGN.search(value[1:])))
    has_form = bool(_LETTER.search(value)) and not _ID.fullmatch(value) and not _is_name(value)
    has_form = has_form and not _IDENTIFIER.fullmatch(value)
    return has_form and (is_odd or is_scrambled(value))


def _is_random(value: str) -> bool:
    if len(value) < _LONG or " " in value or _ID.fullmatch(value):
        return False
    if _is_name(value) or _NUMBERED.fullmatch(value):
        return False
    is_odd = bool(_DIGIT.search(value) and _LETTER.search(value)) or is_scrambled(value)
    return is_odd and bits(value) >= _RANDOM


def _is_id(value: str) -> bool:
    return len(value) >= _LONG and bool(_ID.fullmatch(value)) and not _NO_ID.match(value)


def _is_name(value: str) -> bool:
    if "://" in value or "/" in value[:2] or value.startswith(("./", "~/", "@")):
        return not is_scrambled(value)
    if value.count("/") > 1 and not value.endswith("=") and bits(value) < _WORDY:
        return not is_scrambled(value)
    is_wordy = not _DIGIT.search(value) and any(sign in value for sign in "._/-")
    return is_wordy and not is_scrambled(value)
