"""Replace secrets in text with `[REDACTED]` in linear time."""

import re
from functools import cache

from sidecar.privacy import assignments, token_formats
from sidecar.text.patterns import late

MARK = "[REDACTED]"

_BEGIN, _END, _PRIVATE = "-----BEGIN ", "-----END ", "PRIVATE KEY"
_HEADER_LENGTH = 60
_KEYS_OF_ADDRESSES = r"signature|sig|security-token|key|code|auth|jwt|session|sid"
_HOOKS = (
    r"hooks\.slack\.com/(?:services|workflows|triggers)/",
    r"discord(?:app)?\.com/api/webhooks/[0-9]{5,25}/",
    r"outlook\.office\.com/webhook/",
    r"webhook\.office\.com/",
    r"hooks\.zapier\.com/hooks/catch/",
    r"maker\.ifttt\.com/trigger/[^\s/]{1,60}/with/key/",
    r"api\.telegram\.org/bot",
)
_CODED = r"(?=[A-Za-z._~+/=-]{0,60}[0-9])[A-Za-z0-9._~+/=-]{16,}+"
_PLACES = (
    # user:password@host, and token@host
    ("://", r"://[^\s:/@'\"`<>]{0,100}:", r"(?![$<{*%])[^\s/'\"`<>]{1,300}(?=@)"),
    ("://", r"://", r"(?=[A-Za-z_~.-]{0,60}[0-9])[A-Za-z0-9_~.-]{20,300}+(?=@)"),
    ("://", "|".join(_HOOKS), r"[A-Za-z0-9@:/_-]{16,300}+"),
    # ?key=…
    (
        "=",
        rf"[?&;](?:[Xx]-[A-Za-z]{{2,6}}-)?(?i:{_KEYS_OF_ADDRESSES})=",
        r"(?=[A-Za-z%._~+/-]{0,60}[0-9])[A-Za-z0-9%._~+/=-]{16,}+",
    ),
    # headers
    (
        "uthorization",
        r"uthorization[\"']?[ \t]{0,2}(?::[ \t]{0,2}[\"']?|=[ \t]{0,2}[\"'])(?:[A-Za-z]{3,12}[ \t]{1,4})?",
        r"(?=[A-Za-z._~+/:-]{0,60}(?:[0-9=]|[a-z][A-Z]))[A-Za-z0-9._~+/=:-]{8,}+",
    ),
    ("earer", r"earer[ \t]{1,4}", _CODED),
    ("asic", r"asic[ \t]{1,4}", _CODED),
    ("SSWS", r"SSWS[ \t]{1,4}", r"[A-Za-z0-9_-]{20,100}"),
    # files of docker, kubectl, PuTTY, PostgreSQL, of keys, of passwords' hashes, and .netrc
    ('"auth"', r"\"auth\"[ \t]{0,4}:[ \t]{0,4}\"", r"[A-Za-z0-9+/=]{8,}+"),
    ("key-data", r"key-data\"?:[ \t]{1,4}\"?", r"[A-Za-z0-9+/=]{20,}+"),
    ("Private-Lines", r"Private-Lines: [0-9]{1,3}\s{1,4}", r"[A-Za-z0-9+/=\s]{40,}+"),
    (
        ":",
        r"(?m:^)[ \t+]{0,8}[A-Za-z0-9.*-]{1,100}+:(?:[0-9]{2,5}|\*):[A-Za-z0-9_*-]{1,64}+:[A-Za-z0-9_*-]{1,64}+:",
        r"\S{4,200}+(?m:$)",
    ),
    (
        '"kty"',
        r"\"(?:d|p|q|dp|dq|qi|k)\"[ \t]{0,4}:[ \t]{0,4}\"",
        r"[A-Za-z0-9_-]{20,}+",
    ),
    (
        "$",
        r"(?<![A-Za-z0-9])\$(?:apr1|1|2[abxy]|5|6|y|argon2id?|scrypt|pbkdf2[a-z0-9-]{0,10})\$",
        r"[^\s:'\",]{20,300}",
    ),
    ("assword", r"\blogin[ \t]{1,4}\S{1,100}+\s{1,10}+password[ \t]{1,4}", r"\S{3,200}"),
    # commands
    ("sshpass", r"sshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?", r"[^\s\"'$]{3,200}"),
    ("mysql", r"mysql(?:dump|admin)?[ \t][^\n;|]{0,40}?[ \t]-p", r"[^\s\"'$]{4,200}"),
    ("redis-cli", r"redis-cli[ \t][^\n;|]{0,40}?-a[ \t]{1,4}[\"']?", r"[^\s\"'$]{4,200}"),
    ("login", r"login[ \t][^\n;|]{0,40}?[ \t]-p[ \t]{1,4}[\"']?", r"[^\s\"'$-][^\s\"'$]{3,200}"),
    (
        "-u",
        r"\s(?:-u|--user)[ \t=]{0,2}[\"']?(?P<user>[^\s:'\"]{1,64}+):",
        r"(?![0-9]+\b|(?P=user)\b)[^\s'\"$]{6,200}",
    ),
    (
        "",
        r"(?:IDENTIFIED|identified)(?: (?:WITH|with) \w{1,40})? (?:BY|by) ['\"]",
        r"[^'\"\n]{4,200}",
    ),
)
"""Where secrets stand: letters without which there is no need to look, what stands before, the secret."""
_COOKIES = late(r"(?i:cookie)[\"']?:[ \t]{0,4}[\"']?(?P<pairs>[^\n\"']{8,4000})")
_COOKIE = late(
    r"(?P<before>(?:^|;)[ \t]{0,4}[^\s=;]{1,100}=)(?P<value>[A-Za-z0-9%._~+/:|!*-]{12,4000}=*)"
)


def redact(text: str) -> str:
    """Take the secrets out of a text."""
    if _BEGIN in text:
        text = _without_keys(text)
    for hint, before, secret in _PLACES:
        if hint in text:
            text = _place(before, secret).sub(_marked, text)
    if "ookie" in text:
        text = _COOKIES.sub(_without_cookies, text)
    text = token_formats.without(text, MARK)
    return assignments.without(text, MARK)


@cache
def _place(before: str, secret: str) -> "re.Pattern[str]":
    return re.compile(f"(?P<before>{before}){secret}")


def _marked(found: "re.Match[str]") -> str:
    whole: str = found[0]
    return whole if MARK in whole else f"{found['before']}{MARK}"


def _without_cookies(found: "re.Match[str]") -> str:
    whole: str = found[0]
    pairs: str = found["pairs"]
    return whole.removesuffix(pairs) + _COOKIE.sub(rf"\g<before>{MARK}", pairs)


def _without_keys(text: str) -> str:
    """Take out blocks of private keys; one that is not closed goes to the end."""
    kept: list[str] = []
    position = 0
    while (start := text.find(_BEGIN, position)) >= 0:
        if _PRIVATE not in text[start : start + _HEADER_LENGTH]:
            kept.append(text[position : start + len(_BEGIN)])
            position = start + len(_BEGIN)
            continue
        kept += [text[position:start], MARK]
        end = text.find(_END, start)
        close = text.find("-----", end + len(_END)) if end >= 0 else -1
        position = close + 5 if close >= 0 else len(text)
    return "".join(kept) + text[position:] if kept else text
