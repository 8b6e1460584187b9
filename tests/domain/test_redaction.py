"""Secrets go, whatever their kind; what only looks like one stays."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.domain.redaction import MARK, redact

HEX = string.hexdigits[:16]
ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
CODED = ALNUM + "_-"


def made(alphabet: str, length: int, seed: str) -> str:
    """Invent letters, the same ones each time."""
    chance = random.Random(seed)
    return "".join(chance.choice(alphabet) for _ in range(length))


# Prefixes stand apart from what follows, so that no scanner takes this file for a leak.
FORMS: dict[str, tuple[str, str, int]] = {
    "aws id": ("AKI" + "A", UPPER, 16),
    "aws session id": ("ASI" + "A", UPPER, 16),
    "github classic": ("gh" + "p_", ALNUM, 36),
    "github oauth": ("gh" + "o_", ALNUM, 36),
    "github user": ("gh" + "u_", ALNUM, 36),
    "github server": ("gh" + "s_", ALNUM, 36),
    "github refresh": ("gh" + "r_", ALNUM, 36),
    "github fine": ("github" + "_pat_", ALNUM, 60),
    "gitlab personal": ("glpat" + "-", CODED, 20),
    "gitlab deploy": ("gldt" + "-", CODED, 20),
    "gitlab runner": ("glrt" + "-", CODED, 20),
    "slack bot": ("xox" + "b-", ALNUM, 40),
    "slack user": ("xox" + "p-", ALNUM, 40),
    "slack app": ("xap" + "p-1-", ALNUM, 40),
    "stripe live": ("sk" + "_live_", ALNUM, 24),
    "stripe test": ("sk" + "_test_", ALNUM, 24),
    "stripe restricted": ("rk" + "_live_", ALNUM, 24),
    "stripe webhook": ("whs" + "ec_", ALNUM, 32),
    "openai": ("sk" + "-proj-", ALNUM, 48),
    "openai old": ("sk" + "-", ALNUM, 48),
    "anthropic": ("sk" + "-ant-api03-", ALNUM, 80),
    "openrouter": ("sk" + "-or-v1-", HEX, 64),
    "google api": ("AIz" + "a", CODED, 35),
    "google oauth": ("ya2" + "9.", CODED, 60),
    "google client": ("GOC" + "SPX-", ALNUM, 28),
    "npm": ("np" + "m_", ALNUM, 36),
    "pypi": ("pyp" + "i-", ALNUM, 100),
    "digitalocean": ("do" + "p_v1_", HEX, 64),
    "shopify": ("shp" + "at_", HEX, 32),
    "sendgrid": ("S" + "G.", ALNUM, 22),
    "mailgun": ("ke" + "y-", HEX, 32),
    "huggingface": ("h" + "f_", string.ascii_letters, 34),
    "replicate": ("r" + "8_", ALNUM, 37),
    "square": ("sq0" + "atp-", CODED, 22),
    "twilio": ("S" + "K", HEX, 32),
    "databricks": ("dap" + "i", HEX, 32),
    "grafana": ("gls" + "a_", ALNUM, 41),
    "figma": ("fig" + "d_", ALNUM, 40),
    "linear": ("lin" + "_api_", ALNUM, 40),
    "nvidia": ("nva" + "pi-", CODED, 64),
    "xai": ("xa" + "i-", ALNUM, 80),
    "perplexity": ("pp" + "lx-", ALNUM, 48),
    "tavily": ("tv" + "ly-", ALNUM, 32),
    "groq": ("gs" + "k_", ALNUM, 52),
    "age": ("AGE-SECRET" + "-KEY-1", UPPER, 58),
    "vault service": ("hv" + "s.", ALNUM, 90),
    "vault batch": ("hv" + "b.", ALNUM, 90),
    "doppler": ("dp." + "pt.", ALNUM, 43),
    "pulumi": ("pu" + "l-", HEX, 40),
    "newrelic": ("NRA" + "K-", UPPER, 27),
    "sentry": ("sntr" + "ys_", ALNUM, 60),
    "rubygems": ("ruby" + "gems_", HEX, 48),
    "atlassian": ("ATA" + "TT3", ALNUM, 180),
    "facebook": ("EA" + "A", ALNUM, 120),
    "netlify": ("nf" + "p_", ALNUM, 40),
    "supabase": ("sb" + "p_", HEX, 40),
    "planetscale": ("pscale" + "_tkn_", ALNUM, 43),
    "notion": ("nt" + "n_", ALNUM, 46),
    "notion old": ("sec" + "ret_", ALNUM, 43),
    "docker": ("dckr" + "_pat_", ALNUM, 27),
    "heroku": ("HRK" + "U-", ALNUM, 60),
    "easypost": ("EZA" + "K", ALNUM, 54),
    "buildkite": ("bku" + "a_", string.ascii_lowercase, 40),
    "posthog": ("ph" + "c_", ALNUM, 43),
    "typeform": ("tf" + "p_", CODED, 59),
    "alibaba": ("LTA" + "I", ALNUM, 20),
    "tencent": ("AKI" + "D", ALNUM, 32),
    "yandex": ("AQV" + "N", CODED, 36),
}
"""What providers give out: the beginning, and what follows."""


def fakes() -> dict[str, str]:
    found = {
        name: start + made(letters, length, name)
        for name, (start, letters, length) in FORMS.items()
    }
    found["sendgrid"] += "." + made(ALNUM, 43, "sendgrid tail")
    found["postman"] = "PMA" + "K-" + made(HEX, 24, "postman") + "-" + made(HEX, 34, "postman tail")
    found["airtable"] = (
        "pa" + "t" + made(ALNUM, 14, "airtable") + "." + made(HEX, 64, "airtable tail")
    )
    found["jwt"] = ".".join(
        [
            "ey" + "J" + made(ALNUM, 30, "j1"),
            "ey" + "J" + made(ALNUM, 60, "j2"),
            made(CODED, 43, "j3"),
        ]
    )
    found["telegram"] = made(string.digits, 9, "tg") + ":A" + "A" + made(CODED, 33, "tg tail")
    found["discord"] = (
        "M" + made(ALNUM, 23, "d1") + "." + made(ALNUM, 6, "d2") + "." + made(ALNUM, 27, "d3")
    )
    found["mailchimp"] = made(HEX, 32, "mc") + "-us" + "12"
    found["sendinblue"] = "xkey" + "sib-" + made(HEX, 64, "sib") + "-" + made(ALNUM, 16, "sib tail")
    found["hubspot"] = "pat-n" + "a1-" + "-".join(made(HEX, n, f"h{n}") for n in (8, 4, 4, 4, 12))
    found["terraform"] = made(ALNUM, 14, "tf") + ".atlas" + "v1." + made(ALNUM, 67, "tf tail")
    return found


PEM = "-----BEGIN " + "{}PRIVATE KEY-----\nMIIE{}\n-----END {}PRIVATE KEY-----"
VALUE = made(ALNUM, 20, "value") + "7"
PLACES = {
    "address": "postgres://app:" + VALUE + "@db.example.org:5432/app",
    "redis": "redis://:" + VALUE + "@cache:6379/0",
    "amqp": "amqp://guest:" + VALUE + "@queue",
    "bearer": "Authorization: Bearer " + VALUE,
    "basic": "authorization: basic " + VALUE + "==",
    "azure": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=" + VALUE + "==;",
    "sql": "Server=db;User Id=sa;Password=" + VALUE + ";",
    "slack hook": "https://hooks.slack.com/services/T0/B0/" + VALUE,
    "discord hook": "https://discord.com/api/webhooks/123456789/" + VALUE,
    "rsa": PEM.format("RSA ", VALUE, "RSA "),
    "ec": PEM.format("EC ", VALUE, "EC "),
    "openssh": PEM.format("OPENSSH ", VALUE, "OPENSSH "),
    "pkcs8": PEM.format("", VALUE, ""),
    "cut key": "-----BEGIN " + "PRIVATE KEY-----\nMIIE" + VALUE,
}
WORDS = {
    "env": f"DB_PASSWORD={VALUE}",
    "env word": "DB_PASSWORD=correcthorse",
    "export": f"export API_KEY={VALUE}",
    "quoted": f'api_key = "{VALUE}"',
    "json": f'{{"client_secret": "{VALUE}"}}',
    "yaml": f"password: {VALUE}",
    "python": f"password='{VALUE}'",
    "ruby": f":secret => '{VALUE}'",
    "go": f'token := "{VALUE}"',
    "said": f"the password is {VALUE}",
    "was": f"the old token was {VALUE}",
    "camel": f'accessToken: "{VALUE}"',
    "aws": f"aws_secret_access_key = {made(ALNUM + '/+', 40, 'aws')}",
    "npmrc": f"//registry.example.org/:_authToken={VALUE}",
    "phrase": 'passphrase: "correct horse battery staple"',
    "flag": f"--password={VALUE}",
    "header": f"X-Api-Key: {VALUE}",
    "toml": f'secret_key = "{VALUE}"',
    "django": f"SECRET_KEY = '{VALUE}!@#'",
    "netrc": f"password={VALUE}",
}


@pytest.mark.parametrize("kind", fakes())
def test_a_token_goes_wherever_it_stands(kind: str) -> None:
    """Part of E11."""
    secret = fakes()[kind]
    for text in (
        secret,
        f"use {secret} for now",
        f'key="{secret}"',
        f"({secret})",
        f"a\n{secret}\n",
    ):
        assert secret not in redact(text)
        assert MARK in redact(text)


@pytest.mark.parametrize("kind", PLACES)
def test_a_secret_goes_by_the_place_it_stands_in(kind: str) -> None:
    """Part of E11."""
    shown = redact(PLACES[kind])
    assert VALUE not in shown
    assert MARK in shown


@pytest.mark.parametrize("kind", WORDS)
def test_a_secret_goes_by_the_word_before_it(kind: str) -> None:
    """Part of E11."""
    shown = redact(WORDS[kind])
    assert VALUE not in shown
    assert MARK in shown


@pytest.mark.parametrize(
    "text",
    [
        "fix: handle 5e593ca1b2c3d4e5f60718293a4b5c6d7e8f9012 in the token parser",
        "revert 1b4dc2b6c1f55f22c912cdf3adb88c1e21ea1230",
        "token 123e4567-e89b-12d3-a456-426614174000 is a UUID",
        "session 01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "docs: say what the password is for",
        "Token: handle expiry before refresh",
        "the secret is to keep it simple",
        "password: required field",
        "api_key = os.environ['API_KEY']",
        "token = get_token(user)",
        "token: str | None = None",
        "password = None",
        "const secret = process.env.SECRET",
        "PASSWORD=$DB_PASSWORD make run",
        "secret: <your secret here>",
        "key=/etc/ssl/private.pem",
        "tokenizer: split on whitespace",
        "keyboard: fix layout",
        "pin=pygls",
        "see https://example.org/a/b?x=1#token",
        "git@github.com:acme/widgets.git",
        "src/components/auth/token-refresh/handler.ts",
        "basic re-implementation of previews",
        "data:image/png;base64,iVBORw0KGgo",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "https://user@example.org/path:8080",
        "compare v1.2.3-beta.4...v1.2.4",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    """Part of E11."""
    assert redact(text) == text


@given(st.text(max_size=300))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once
