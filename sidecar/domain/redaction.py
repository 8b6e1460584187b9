"""Secrets in texts: what looks like one becomes `[REDACTED]`, in time that grows with the text alone.

Three ways to know a secret: its own form (providers give their tokens prefixes), the place it stands in (a
header, an address, a key block), and the word before it (`password = …`), if what follows looks like
a value and not like prose. Commit ids, UUIDs, hashes and paths have none of these and stay.
"""

import re

MARK = "[REDACTED]"

_FORMS = (
    r"(?:AKIA|ASIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}",
    r"gh[pousr]_[A-Za-z0-9]{30,255}",
    r"github_pat_[A-Za-z0-9_]{22,255}",
    r"gl(?:pat|dt|ft|rt|soat|cbt|ptt|agent|imt|oas|ffct)-[A-Za-z0-9_-]{20,255}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,255}",
    r"xapp-[0-9]-[A-Za-z0-9-]{10,255}",
    r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,255}",
    r"whsec_[A-Za-z0-9+/=]{20,255}",
    r"sk-[A-Za-z0-9_-]{20,255}",
    r"AIza[A-Za-z0-9_-]{35}",
    r"ya29\.[A-Za-z0-9_-]{20,1000}",
    r"GOCSPX-[A-Za-z0-9_-]{20,100}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{50,1000}",
    r"do[opr]_v1_[a-f0-9]{64}",
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}",
    r"key-[0-9a-f]{32}",
    r"[0-9a-f]{32}-us[0-9]{1,2}",
    r"hf_[A-Za-z0-9]{30,64}",
    r"r8_[A-Za-z0-9]{37}",
    r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,64}",
    r"(?:SK|AC)[0-9a-f]{32}",
    r"dapi[a-f0-9]{32}",
    r"gl(?:sa|c)_[A-Za-z0-9_+/=-]{20,255}",
    r"eyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}",
    r"figd_[A-Za-z0-9_-]{30,255}",
    r"lin_(?:api|oauth)_[A-Za-z0-9]{30,255}",
    r"pat-(?:na|eu)[0-9]-[0-9a-f-]{36}",
    r"(?:nvapi|xai|pplx|tvly)-[A-Za-z0-9_-]{20,255}",
    r"gsk_[A-Za-z0-9]{40,100}",
    r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
    r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
    r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
    r"hv[sbr]\.[A-Za-z0-9_-]{24,255}",
    r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{40,100}",
    r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}",
    r"pul-[a-f0-9]{40}",
    r"NRAK-[A-Z0-9]{27}",
    r"sntry[su]_[A-Za-z0-9_+/=-]{40,255}",
    r"rubygems_[a-f0-9]{48}",
    r"AT(?:ATT|CTT)3[A-Za-z0-9_=-]{60,255}",
    r"EAA[A-Za-z0-9]{60,255}",
    r"nfp_[A-Za-z0-9]{36,64}",
    r"sbp_[a-f0-9]{40}",
    r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.-]{30,64}",
    r"ntn_[A-Za-z0-9]{40,64}",
    r"secret_[A-Za-z0-9]{43}",
    r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
    r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
    r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,64}",
    r"HRKU-[A-Za-z0-9_-]{30,64}",
    r"EZ[AT]K[A-Za-z0-9]{54}",
    r"[sp]k\.eyJ[A-Za-z0-9_-]{50,255}\.[A-Za-z0-9_-]{20,64}",
    r"CCIPAT_[A-Za-z0-9]{22}_[A-Fa-f0-9]{40}",
    r"bkua_[a-z0-9]{40}",
    r"phc_[A-Za-z0-9]{40,50}",
    r"ops_eyJ[A-Za-z0-9_-]{200,4000}",
    r"A3-[A-Z0-9]{6}-[A-Z0-9-]{26,34}",
    r"tfp_[A-Za-z0-9_-]{40,64}",
    r"ICB_[A-Za-z0-9]{30,64}",
    r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}",
    r"key_[A-Za-z0-9]{32,64}",
    r"live_[a-f0-9]{35,64}",
    r"LTAI[A-Za-z0-9]{16,24}",
    r"AKID[A-Za-z0-9]{32}",
    r"AQVN[A-Za-z0-9_-]{35,40}",
    r"t1\.[A-Z0-9a-z_-]{60,255}",
)
_FORM = re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join(_FORMS)})(?![A-Za-z0-9])")
_HOOK = re.compile(
    r"(hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/[0-9]{5,25}/"
    r"|outlook\.office\.com/webhook/|webhook\.office\.com/)[A-Za-z0-9@/_-]{16,300}"
)
_ADDRESS = re.compile(
    r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@'\"]{0,100}:)[^\s@/'\"]{1,300}(?=@)", re.IGNORECASE
)
_HEADER = re.compile(
    r"\b((?:bearer|basic)[ \t]{1,4})(?=[A-Za-z._~+/=-]{0,60}[0-9])[A-Za-z0-9._~+/=-]{16,4000}",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b((?:AccountKey|SharedAccessKey|SharedAccessSignature|Password|Pwd|sig)=)(?![$<{%(])[^\s;&'\"]{6,300}",
    re.IGNORECASE,
)
_WORD = re.compile(
    r"pass(?:word|wd|phrase|code)|\bpwd|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key"
    r"|encryption[_-]?key|signing[_-]?key|auth[_-]?key|account[_-]?key|credential|_key\b|_auth\b|\bpin\b",
    re.IGNORECASE,
)
_SET_TO = r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\n]{4,300})|(?P<plain>[^\s\"'`,;)}\]]{4,200}))"
_VALUE = re.compile(
    rf"[A-Za-z0-9_-]{{0,30}}(?P<gap>[\"']?[ \t]{{0,4}}(?:=>|:=|==?|:)[ \t]{{0,4}}){_SET_TO}"
)
_SAID = re.compile(rf"(?P<gap>[ \t]{{1,3}}(?:is|was)[ \t]{{1,3}}){_SET_TO}", re.IGNORECASE)
_DIGIT = re.compile(r"[0-9]")
_TIGHT = {"=", '"=', "'="}
"""Nobody writes prose like this."""
_SHORTEST = 6
_PHRASE = 12
"""Letters from which a single word is a pass phrase."""
_BEGIN, _END, _PRIVATE = "-----BEGIN ", "-----END ", "PRIVATE KEY"
_HEADER_LENGTH = 60
_HARMLESS = re.compile(
    r"(?:true|false|null|none|nil|undefined|required|optional|string|str|int|bool|bytes|any|object|todo"
    r"|changeme|example|placeholder|redacted|\[?redacted\]?|hidden|masked|x{3,}|\*{3,}|\.{3,}|<[^>]{0,80}>?|\$.{0,200}"
    r"|%.{0,100}|\{.{0,200}|process\.env.{0,100}|os\.environ.{0,100}|env\..{0,100}|self\..{0,100}|this\..{0,100})",
    re.IGNORECASE,
)
_CALL = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,80}[(\[]")
_ID = re.compile(
    r"[0-9a-f]{7,12}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-7][0-9A-HJKMNP-TV-Z]{25}",
)
_LONG = re.compile(r"[A-Za-z0-9_+/=.:@-]{20,}")
"""Only here can a provider's token stand."""
_HINTS = ("pass", "pwd", "secret", "token", "key", "cred", "_auth", "pin")


def redact(text: str) -> str:
    """Take the secrets out of a text."""
    lower = text.lower()
    if _BEGIN in text:
        text = _without_keys(text)
    if "://" in text:
        text = _HOOK.sub(rf"\1{MARK}", _ADDRESS.sub(rf"\1{MARK}", text))
    text = _LONG.sub(lambda found: _FORM.sub(MARK, found[0]), text)
    if "bearer" in lower or "basic" in lower:
        text = _HEADER.sub(rf"\1{MARK}", text)
    if "=" in text:
        text = _PART.sub(rf"\1{MARK}", text)
    if any(hint in lower for hint in _HINTS):
        text = _without_values(text)
    return text


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


def _without_values(text: str) -> str:
    """Take out what words like `password` are set to."""
    kept: list[str] = []
    position = 0
    for word in _WORD.finditer(text):
        if word.start() < position:
            continue
        found = _VALUE.match(text, word.end()) or _SAID.match(text, word.end())
        if found and _is_secret(found):
            group = "quoted" if found["quote"] else "plain"
            kept += [text[position : found.start(group)], MARK]
            position = found.end(group)
    return "".join(kept) + text[position:] if kept else text


def _is_secret(found: "re.Match[str]") -> bool:
    """Tell whether what a word is set to is a value, and no prose, no code and no name."""
    value: str = found["quoted"] or found["plain"]
    if MARK in value or _HARMLESS.fullmatch(value) or _CALL.match(value) or _ID.fullmatch(value):
        return False
    if len(value) < _SHORTEST:
        return False
    if found["gap"] in _TIGHT:
        return not _is_name(value)
    is_word = value.isalpha() and (value.islower() or value.istitle() or value.isupper())
    if found["quote"]:
        return not is_word or len(value) >= _PHRASE
    return _has_digit(value) and not value.rstrip(".:!?").isdigit() and not _is_name(value)


def _is_name(value: str) -> bool:
    """Tell whether a value is a path, an address or a name in code."""
    is_dotted = not _has_digit(value) and any(sign in value for sign in "._/-")
    return "/" in value[:2] or "://" in value or is_dotted


def _has_digit(value: str) -> bool:
    return _DIGIT.search(value) is not None
