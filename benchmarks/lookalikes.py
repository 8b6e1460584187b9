"""Texts that look like secrets and are none: ids, hashes, names, public keys, code and prose."""

import base64
import hashlib
import string
from collections.abc import Callable
from random import Random

from benchmarks.leaks import letters
from benchmarks.tokens import ALNUM, BASE64, HEX, LOWER, UUID

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_WORDS = (
    *("user", "account", "session", "token", "refresh", "handler", "service", "client", "parser"),
    *(
        "config",
        "secret",
        "manager",
        "password",
        "reset",
        "form",
        "button",
        "cache",
        "key",
        "store",
    ),
)
Make = Callable[[Random], str]


def _words(chance: Random, count: int, joint: str) -> str:
    return joint.join(chance.choices(_WORDS, k=count))


def _camel(chance: Random) -> str:
    first, *others = chance.choices(_WORDS, k=4)
    return first + "".join(word.title() for word in others)


def _digest(name: str, chance: Random) -> str:
    return hashlib.new(name, chance.randbytes(20)).hexdigest()


def _integrity(name: str, chance: Random) -> str:
    digest = hashlib.new(name, chance.randbytes(20)).digest()
    return f"{name}-{base64.b64encode(digest).decode()}"


def _base64(chance: Random, count: int) -> str:
    return base64.b64encode(chance.randbytes(count)).decode()


def _version(chance: Random) -> str:
    return ".".join(str(chance.randrange(60)) for _ in range(3))


def _ulid(chance: Random) -> str:
    return "01" + letters(_CROCKFORD, 24, chance)


LOOKALIKES: dict[str, Make] = {
    "git sha": lambda c: letters(HEX, 40, c),
    "git sha in a message": lambda c: f"fix: handle {letters(HEX, 40, c)} in the token parser",
    "short sha": lambda c: f"revert {letters(HEX, 9, c)}",
    "reverts": lambda c: f"This reverts commit {letters(HEX, 40, c)}.",
    "range of shas": lambda c: f"{letters(HEX, 7, c)}...{letters(HEX, 7, c)}",
    "index line": lambda c: f"index {letters(HEX, 7, c)}..{letters(HEX, 7, c)} 100644",
    "uuid": lambda c: letters(UUID, 1, c),
    "uuid field": lambda c: f'"requestId": "{letters(UUID, 1, c)}"',
    "ulid": _ulid,
    "ulid field": lambda c: f'{{"eventId": "{_ulid(c)}"}}',
    "nanoid": lambda c: f"id={letters(ALNUM, 21, c)}",
    "object id": lambda c: f"_id: {letters(HEX, 24, c)}",
    "md5": lambda c: f"md5: {_digest('md5', c)}",
    "sha256": lambda c: f"sha256:{_digest('sha256', c)}",
    "sha512": lambda c: _digest("sha512", c),
    "checksum line": lambda c: f"{_digest('sha256', c)}  dist/app-{_version(c)}.tar.gz",
    "pip hash": lambda c: f"    --hash=sha256:{_digest('sha256', c)} \\",
    "npm integrity": lambda c: f'"integrity": "{_integrity("sha512", c)}",',
    "yarn integrity": lambda c: f"  integrity {_integrity('sha512', c)}",
    "old integrity": lambda c: f'"integrity": "{_integrity("sha1", c)}"',
    "page integrity": lambda c: f'<script src="a.js" integrity="{_integrity("sha384", c)}">',
    "cargo checksum": lambda c: f'checksum = "{_digest("sha256", c)}"',
    "go sum": lambda c: f"golang.org/x/net v0.{c.randrange(40)}.0 h1:{_base64(c, 32)}",
    "poetry": lambda c: f'content-hash = "{_digest("sha256", c)}"',
    "nix": lambda c: f'hash = "sha256-{_base64(c, 32)}";',
    "docker digest": lambda c: f"FROM python:3.12@sha256:{_digest('sha256', c)}",
    "action": lambda c: f"uses: actions/checkout@{letters(HEX, 40, c)} # v4",
    "etag": lambda c: f'ETag: "{letters(HEX, 32, c)}"',
    "cache key": lambda c: f"cache_key = {letters(HEX, 40, c)}",
    "image": lambda c: f"data:image/png;base64,iVBORw0KGgo{_base64(c, 90)}",
    "font": lambda c: f"url(data:font/woff2;base64,d09GMgABAAAA{_base64(c, 120)})",
    "source map": lambda c: f"//# sourceMappingURL=main.{letters(HEX, 8, c)}.js.map",
    "bundle": lambda c: f"assets/index-{letters(ALNUM, 8, c)}.js",
    "certificate": lambda c: f"-----BEGIN CERTIFICATE-----\n{_base64(c, 96)}\n-----END CERTIFICATE-----",
    "public key": lambda c: f"-----BEGIN PUBLIC KEY-----\n{_base64(c, 96)}\n-----END PUBLIC KEY-----",
    "ssh public": lambda c: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_base64(c, 32)} me@example.org",
    "ssh rsa": lambda c: f"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{_base64(c, 200)} me@host",
    "known host": lambda c: f"github.com ssh-rsa AAAAB3NzaC1yc2EAAAABIwAAAQEA{_base64(c, 150)}",
    "fingerprint": lambda c: f"SHA256:{_base64(c, 32).rstrip('=')} me@example.org (ED25519)",
    "path": lambda c: f"src/{_words(c, 5, '/')}/{_words(c, 2, '-')}.test.tsx",
    "path with numbers": lambda c: f"/var/lib/{_words(c, 3, '/')}/2026-03-0{c.randrange(9)}/part{c.randrange(99)}.log",
    "windows path": lambda c: f"C:\\Users\\me\\{_words(c, 4, chr(92))}.cs",
    "identifier": lambda c: _words(c, 5, "_"),
    "constant": lambda c: _words(c, 5, "_").upper(),
    "camel case": _camel,
    "dotted": lambda c: f"com.example.{_words(c, 4, '.')}",
    "css class": lambda c: f'class="{_words(c, 3, "-")} sk-{_words(c, 4, "-")} mt-4 md:w-1/2"',
    "css module": lambda c: f"_{_camel(c)}_{letters(LOWER, 5, c)}_{c.randrange(99)}",
    "minified": lambda c: f"function {letters(string.ascii_letters, 2, c)}(e,t){{return e.{letters(string.ascii_lowercase, 2, c)}(t)}}",
    "version": lambda c: f"bump {_words(c, 1, '')} from {_version(c)} to {_version(c)}-rc.{c.randrange(9)}",
    "pseudo version": lambda c: f"v0.0.0-20260302{c.randrange(100000, 999999)}-{letters(HEX, 12, c)}",
    "date": lambda c: f"2026-03-02T12:00:{c.randrange(10, 60)}.{c.randrange(10**6)}Z",
    "address": lambda c: f"https://example.org/{_words(c, 3, '/')}?page={c.randrange(99)}&sort=name#token",
    "issue address": lambda c: f"https://github.com/acme/widgets/pull/{c.randrange(9999)}/commits/{letters(HEX, 40, c)}",
    "remote": lambda c: f"git@github.com:acme/{_words(c, 2, '-')}.git",
    "port": lambda c: f"http://localhost:{c.randrange(1000, 9999)}/{_words(c, 2, '/')}@latest",
    "mail": lambda c: f"Co-authored-by: A B <{c.randrange(10**8)}+ab@users.noreply.github.com>",
    "gerrit": lambda c: f"Change-Id: I{letters(HEX, 40, c)}",
    "package": lambda c: f"@acme/{_words(c, 2, '-')}@{_version(c)}",
    "arn": lambda c: f"arn:aws:secretsmanager:eu-west-1:{c.randrange(10**11, 10**12)}:secret:prod/{_words(c, 2, '-')}",
    "hex colour": lambda c: f"--accent: #{letters(HEX, 6, c)};",
    "ip": lambda c: f"2001:db8::{letters(HEX, 4, c)}:{letters(HEX, 4, c)}",
    "address of memory": lambda c: f"<Token object at 0x7f{letters(HEX, 10, c)}>",
    "number": lambda c: f"max_tokens={c.randrange(10**5, 10**7)}",
    "counted": lambda c: f"tokens: {c.randrange(10**6)}",
    "from environment": lambda c: f"api_key = os.environ['{_words(c, 2, '_').upper()}']",
    "from node": lambda c: f"const {_words(c, 1, '')}Token = process.env.{_words(c, 3, '_').upper()}",
    "from a call": lambda c: f"token = {_words(c, 3, '_')}(user2, 5)",
    "from a field": lambda c: f"password = self.{_words(c, 2, '_')}2",
    "shell variable": lambda c: f"PASSWORD=${_words(c, 2, '_').upper()} make run",
    "workflow": lambda c: f"token: ${{{{ secrets.{_words(c, 2, '_').upper()} }}}}",
    "placeholder": lambda c: f"api_key: <your-{_words(c, 2, '-')}>",
    "stars": lambda c: f"password: {'*' * c.randrange(6, 16)}",
    "type": lambda c: f"password: {c.choice(['str', 'string', 'String', 'bytes'])}",
    "optional type": lambda c: f"{_words(c, 1, '')}_token: str | None = None",
    "about a secret": lambda c: f'secret_name = "prod/{_words(c, 2, "-")}{c.randrange(9)}"',
    "a kind of token": lambda c: f'"token_type": "{c.choice(["Bearer", "access_token", "urn:x2"])}"',
    "list of names": lambda c: f'fields = ["password", "{_words(c, 2, "_")}{c.randrange(9)}"]',
    "label": lambda c: f'"password": "Please enter your {_words(c, 2, " ")} password again"',
    "prose": lambda c: f"docs: say what the {_words(c, 1, '')} password is for and where the token goes",
    "prose with colon": lambda c: f"Token: handle {_words(c, 2, ' ')} before refresh",
    "prose with number": lambda c: f"The token is v{c.randrange(9)} of the {_words(c, 2, ' ')} format",
    "algorithm": lambda c: f"password hash: {c.choice(['PBKDF2', 'SHA256', 'Argon2', 'bcrypt'])}",
    "public field": lambda c: f'public_key = "{letters(BASE64, 43, c)}="',
    "primary key": lambda c: f"primary_key = {letters(LOWER, 20, c)}",
    "test id": lambda c: f'data-testid="{_words(c, 3, "-")}-{c.randrange(99)}"',
    "locale": lambda c: f"{_words(c, 2, '.')}.password.label: Passwort vergessen?",
}  # fmt: skip
