"""Decide cheaply whether text can contain a secret; standard library only, for hooks."""

_MOST = 20
"""Characters that a token has at least."""
_RUN = r"[\w.:/~%+=-]{20,}"
_ANY_NUMBER = r"[12]/[0-9]{12}|\b[MNO][\w-]{22,26}\.[\w-]{6}\."
_STARTS = r"(?<![A-Za-z0-9_])[A-Za-z0-9]"
_STEMS = (
    *("pass", "pwd", "pw", "psk", "secret", "token", "key", "credential", "clave", "contrase"),
    *("auth", "phrase", "mnemonic", "senha", "parola", "mdp", "senord", "wachtwoord", "kennwort"),
    *("hasło", "пароль", "şifre", "密码", "密碼", "口令", "パスワード", "비밀번호"),
)
"""Every word that announces a secret contains one of these."""
_WORDS = (
    r"(?:pass|pwd?|psk|secret|token|[a-z_-]key|_auth|credential|clave|contrase|phrase|mnemonic|senha|parola"
    r"|mdp|senord|wachtwoord|kennwort|hasło|пароль|şifre|密码|密碼|口令|パスワード|비밀번호)"
)
_SET = r"[\s\"'`\\)\]-]{0,12}(?:[=:>\uff1a]|value\b)"
_LISTED = r"(?:[\"'`],|\([\"'`])"
_SAID = (
    r"(?:[ \t]{1,3}(?:for|of|to|on|für|de)[ \t]{1,3}[^\s=:\"']{1,40})?"
    r"(?:[ \t]{1,3}(?:is|was|are|ist|lautet|est|es|é)(?=[ \t])|[ \t]?(?:は|是|为))?[ \t]{0,4}"
)
_ODD = (
    r"(?:\\?[\"'`]|\S*?[0-9]|\S*?[!@#$%^&*+~?|]\S*?[^\s.:!?]|\S*?[a-z][A-Z]"
    r"|\S*?[^A-Za-z\s]\S*?[^A-Za-z\s]\S*?[A-Za-z])"
)
"""What a value has that is no plain word: a quotation mark, a digit, a sign, mixed case."""
_PLACES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("-----BEGIN ", '"auth"', "key-data", "Private-Lines", '"kty"', "sshpass", "redis-cli"), ""),
    (("://",), r"://[^\s\"'`<>]{0,420}@"),
    (("hook", "telegram", "trigger"), ""),
    (("=",), r"[?&;][A-Za-z-]{2,40}=[^\s&]{16}"),
    (("uthorization",), r"uthorization[\"']?[ \t]{0,2}[:=]"),
    (("earer", "asic", "SSWS"), r"(?:earer|asic|SSWS)[ \t]{1,4}\S{16}"),
    ((":",), r"(?m:^)[ \t+]{0,8}[A-Za-z0-9.*-]+:[0-9*]{1,5}:[\w*-]+:[\w*-]+:"),
    (("$",), r"\$[a-z0-9-]{1,20}\$\S{20}"),
    (("login",), r"login[ \t]{1,4}\S{1,100}\s{1,10}password|login[ \t][^\n;|]{0,40}?[ \t]-p"),
    (("mysql",), r"mysql[^\n;|]{0,50}?[ \t]-p"),
    (("-u",), r"\s(?:-u|--user)[ \t=]{0,2}[\"']?[^\s:'\"]{1,64}:"),
    (("dentified", "DENTIFIED"), r"(?i:identified)[^\n]{0,60}['\"]"),
    (("ookie",), r"(?i:cookie)[\"']?:"),
)
"""Texts of which one must occur, and a pattern that must match then."""


def may_hold(text: str) -> bool:
    """Return whether redaction might change a text; False is certain."""
    return _has_token(text) or _has_place(text) or _has_word(text)


def _has_token(text: str) -> bool:
    """Return whether anything is long enough for a token and begins like one."""
    long = [word for word in text.split() if len(word) >= _MOST]
    if not long:
        return False
    import re  # noqa: PLC0415  # as everywhere below: who has no need of patterns does not load them

    from sidecar.privacy import secret_formats  # noqa: PLC0415  # likewise

    if any(part in word for word in long for part in secret_formats.INNER_PARTS):
        return True
    prefixes = secret_formats.prefixes()
    runs = [run[0] for word in long for run in re.finditer(_RUN, word)]
    return any(
        re.search(_ANY_NUMBER, run)
        or any(
            run.startswith(prefixes, start.start()) and len(run) - start.start() >= _MOST
            for start in re.finditer(_STARTS, run)
        )
        for run in runs
    )


def _has_place(text: str) -> bool:
    """Return whether the text has a place where secrets are usual."""
    for hints, rest in _PLACES:
        if any(letters in text for letters in hints):
            import re  # noqa: PLC0415

            if not rest or re.search(rest, text):
                return True
    return False


def _has_word(text: str) -> bool:
    lower = text.lower()
    if not any(stem in lower for stem in _STEMS):
        return False
    import re  # noqa: PLC0415

    said = rf"(?i:{_WORDS})(?=[\w.-]{{0,60}}(?:{_SET}|{_LISTED}|(?i:{_SAID}){_ODD}))"
    return re.search(said, text) is not None
