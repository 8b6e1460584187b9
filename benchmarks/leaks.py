"""Secrets that never were, of every kind we know, in the places where they leak.

What providers give out is in `benchmarks/tokens.py`.
"""

from collections.abc import Callable
from random import Random

from benchmarks.tokens import ALNUM, BASE64, CODED, FORMS, HEX, UUID

Leak = tuple[str, str]
"""The secret, and the text that it stands in."""

PLACES: dict[str, str] = {
    "postgres": "postgres://app:{}@db.example.org:5432/app",
    "mongodb": "mongodb+srv://admin:{}@cluster0.example.net/test?retryWrites=true",
    "redis": "redis://:{}@cache:6379/0",
    "amqp": "amqps://guest:{}@queue.internal/vhost",
    "mysql": "mysql+pymysql://root:{}@localhost/shop",
    "smtp": "smtp://mailer%40example.org:{}@mail.example.org:587",
    "git address": "https://oauth2:{}@gitlab.example.org/acme/widgets.git",
    "git token": "https://{}@git.example.org/acme/widgets.git",
    "jdbc": "jdbc:mysql://db:3306/shop?user=app&password={}&useSSL=true",
    "odbc": "Driver={{ODBC Driver 17}};Server=db;Uid=sa;Pwd={};Encrypt=yes;",
    "ado": "Server=db;Database=shop;User Id=sa;Password={};",
    "azure storage": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={}==;EndpointSuffix=y",
    "azure bus": "Endpoint=sb://x.example.net/;SharedAccessKeyName=root;SharedAccessKey={}=",
    "azure sas": "https://x.blob.example.net/c/b?sv=2022-11-02&sp=r&sig={}%3D",
    "aws signed": "https://b.s3.example.com/k?X-Amz-Expires=900&X-Amz-Signature={}",
    "query token": "https://api.example.org/v1/items?page=2&access_token={}",
    "query key": "GET /maps/api?key={}&q=berlin",
    "bearer": "Authorization: Bearer {}",
    "bearer in code": 'headers = {{"Authorization": "Bearer {}"}}',
    "basic": "authorization: basic {}==",
    "token header": "Authorization: token {}",
    "apikey header": "Authorization: ApiKey {}",
    "gitlab header": "PRIVATE-TOKEN: {}",
    "api key header": "X-Api-Key: {}",
    "vault header": 'curl -H "X-Vault-Token: {}" https://vault.example.org',
    "cookie": "Cookie: theme=dark; sessionid={}; lang=de",
    "set cookie": "Set-Cookie: sid={}; Path=/; HttpOnly; Secure",
    "docker auths": '{{"auths": {{"ghcr.io": {{"auth": "{}=="}}}}}}',
    "netrc": "machine api.example.org login deploy password {}",
    "netrc lines": "machine api.example.org\n  login deploy\n  password {}",
    "npmrc": "//registry.example.org/:_authToken={}",
    "npmrc auth": "_auth = {}==",
    "pypirc": "[pypi]\nusername = __token__\npassword = {}",
    "pgpass": "db.example.org:5432:shop:app:{}",
    "kubeconfig token": "users:\n- name: admin\n  user:\n    token: {}",
    "kubeconfig key": "    client-key-data: LS0tLS1CRUdJTi{}=",
    "htpasswd": "admin:$apr1$abcdefgh${}",
    "shadow": "root:$6$saltsalt${}:19000:0:99999:7:::",
    "slack hook": "https://hooks.slack.com/services/T00000000/B00000000/{}",
    "discord hook": "https://discord.com/api/webhooks/123456789012345678/{}",
    "teams hook": "https://x.webhook.office.com/webhookb2/{}",
    "zapier hook": "https://hooks.zapier.com/hooks/catch/123456/{}/",
    "telegram bot": "https://api.telegram.org/bot123456789:{}/sendMessage",
    "rsa": "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIE{}\n-----END " + "RSA PRIVATE KEY-----",
    "ec": "-----BEGIN " + "EC PRIVATE KEY-----\nMHcC{}\n-----END " + "EC PRIVATE KEY-----",
    "openssh": "-----BEGIN " + "OPENSSH PRIVATE KEY-----\nb3Bl{}\n-----END " + "OPENSSH PRIVATE KEY-----",
    "pkcs8": "-----BEGIN " + "PRIVATE KEY-----\nMIIE{}\n-----END " + "PRIVATE KEY-----",
    "pgp": "-----BEGIN " + "PGP PRIVATE KEY BLOCK-----\n\nlQdG{}\n=ab12\n-----END " + "PGP PRIVATE KEY BLOCK-----",
    "service account": '"private_key": "-----BEGIN ' + "PRIVATE KEY-----\\nMIIE{}\\n-----END " + 'PRIVATE KEY-----\\n"',
    "cut key": "-----BEGIN " + "PRIVATE KEY-----\nMIIE{}",
    "putty": "Private-Lines: 1\n{}0123456789abcdef0123456789abcdef\nPrivate-MAC: 00",
    "jwk": '{{"kty": "RSA", "e": "AQAB", "d": "{}"}}',
    "otpauth": "otpauth://totp/x:me@example.org?secret={}&issuer=x",
    "wireguard": "[Interface]\nPrivateKey = {}=",
    "curl user": "curl -u deploy:{} https://api.example.org",
    "curl user long": "curl --user 'deploy:{}' https://api.example.org",
    "sshpass": "sshpass -p {} ssh root@example.org",
    "mysql option": "mysql -u root -p{} shop",
    "docker login": "docker login -u deploy -p {} ghcr.io",
    "sql": "CREATE USER app IDENTIFIED BY '{}';",
    "sql role": "ALTER ROLE app WITH PASSWORD '{}';",
}  # fmt: skip
"""Where secrets stand that have no form of their own."""

WORDS: dict[str, str] = {
    "setter": 'client.set_{key}("{value}")',
    "env": "{key}={value}",
    "export": 'export {key}="{value}"',
    "export single": "export {key}='{value}'",
    "windows": "set {key}={value}",
    "powershell": '$env:{key} = "{value}"',
    "dockerfile": "ENV {key}={value}",
    "dockerfile old": "ENV {key} {value}",
    "compose": "      - {key}={value}",
    "yaml": "{key}: {value}",
    "yaml quoted": '{key}: "{value}"',
    "kubernetes env": "- name: {key}\n  value: {value}",
    "json": '{{"{key}": "{value}"}}',
    "json tight": '{{"id":7,"{key}":"{value}","on":true}}',
    "json in json": '"{{\\"{key}\\": \\"{value}\\"}}"',
    "toml": '{key} = "{value}"',
    "ini": "{key} = {value}",
    "properties": "app.{key}={value}",
    "xml": "<{key}>{value}</{key}>",
    "xml attribute": '<db user="app" {key}="{value}"/>',
    "xml setting": '<add key="{key}" value="{value}" />',
    "python": "{key} = '{value}'",
    "python typed": '{key}: str = "{value}"',
    "python call": 'connect(host="db", {key}="{value}")',
    "python environ": 'os.environ["{key}"] = "{value}"',
    "javascript": "const {key} = '{value}';",
    "template": "const {key} = `{value}`;",
    "go": '{key} := "{value}"',
    "ruby": ":{key} => '{value}'",
    "php": "'{key}' => '{value}',",
    "php define": "define('{key}', '{value}');",
    "java": 'String {key} = "{value}";',
    "rust": 'let {key}: &str = "{value}";',
    "terraform": '  {key}   = "{value}"',
    "flag": "deploy --{key}={value} --verbose",
    "flag apart": "deploy --{key} {value} --verbose",
    "helm": "helm upgrade x --set auth.{key}={value}",
    "query": "https://example.org/hook?{key}={value}&x=1",
    "header": "{key}: {value}",
    "said": "the {key} is {value}",
    "was": "the old {key} was {value}.",
    "said for": "{key} for staging is {value}",
}
KEYS = (
    *("DB_PASSWORD", "PASSWORD", "API_KEY", "SECRET_KEY", "ACCESS_TOKEN", "AUTH_TOKEN"),
    *("client_secret", "api_key", "password", "passwd", "secret", "token", "private_token"),
    *("apiKey", "accessToken", "clientSecret", "dbPassword", "signing_key", "encryption_key"),
    *("AWS_SECRET_ACCESS_KEY", "JWT_SECRET", "webhook_secret", "refresh_token", "master_key"),
)
FOREIGN: dict[str, str] = {
    "german": "Passwort: {}",
    "german said": "Das Passwort ist {}",
    "german other": "Kennwort = {}",
    "french": "mot de passe : {}",
    "french tight": "mot de passe: {}",
    "spanish": "contraseña: {}",
    "spanish plain": "contrasena={}",
    "portuguese": "senha={}",
    "dutch": "wachtwoord: {}",
    "swedish": "lösenord: {}",
    "polish": "hasło: {}",
    "russian": "Пароль: {}",
    "chinese": "密码\uff1a{}",
    "chinese tight": "密码:{}",
    "japanese": "パスワード\uff1a{}",
    "japanese said": "パスワードは{}",
    "korean": "비밀번호: {}",
}


def token(kind: str, chance: Random) -> str:
    """Invent a provider's token."""
    return "".join(
        part if isinstance(part, str) else letters(*part, chance) for part in FORMS[kind]
    )


def letters(alphabet: str, count: int, chance: Random) -> str:
    """Draw letters, so that no sign stands at either end."""
    if alphabet == UUID:
        return "-".join(letters(HEX, size, chance) for size in (8, 4, 4, 4, 12))
    ends = [letter for letter in alphabet if letter.isalnum()]
    middle = "".join(chance.choice(alphabet) for _ in range(count - 2))
    return chance.choice(ends) + middle + chance.choice(ends) if count > 1 else chance.choice(ends)


def place(kind: str, chance: Random) -> Leak:
    """Invent a secret that is known by its place."""
    value = letters(ALNUM, chance.choice([24, 32, 43]), chance)
    return value, PLACES[kind].format(value)


def word(kind: str, chance: Random) -> Leak:
    """Invent a secret that is known by the word before it."""
    value = chance.choice(VALUES)(chance)
    return value, WORDS[kind].format(key=chance.choice(KEYS), value=value)


def foreign(kind: str, chance: Random) -> Leak:
    """Invent a secret behind a word of another language."""
    value = chance.choice(VALUES)(chance)
    return value, FOREIGN[kind].format(value)


def _human(chance: Random) -> str:
    """Invent what people choose."""
    name = chance.choice(["Summer", "dragon", "Welcome", "hunter", "letmein", "Passw0rd", "Berlin"])
    return f"{name}{chance.randrange(10, 10_000)}{chance.choice(['!', '', '#', '!!'])}"


VALUES: tuple[Callable[[Random], str], ...] = (
    lambda chance: letters(ALNUM, 20, chance),
    lambda chance: letters(ALNUM, 32, chance),
    lambda chance: letters(HEX, 32, chance),
    lambda chance: letters(HEX, 64, chance),
    lambda chance: letters(BASE64, 40, chance),
    lambda chance: letters(CODED, 43, chance),
    lambda chance: letters(UUID, 1, chance),
    lambda chance: letters(ALNUM + "!@#%^*_-", 16, chance),
    _human,
)

PLAIN: tuple[str, ...] = ("{}", "use {} for now", "a\n{}\nb", "({})", '"{}"')
"""Surroundings that the patterns were made with."""
HELD_OUT: tuple[str, ...] = (
    '$ curl -sS -H "x: {}" https://example.org | jq .',
    "echo {} | tee /tmp/out",
    '{{"message": "{}", "level": "info"}}',
    "env:\n  VALUE: {}\n",
    "@@ -1,3 +1,3 @@\n-{}\n+gone\n",
    "@@ -1,3 +1,3 @@\n context\n+    {}\n",
    "2026-03-02T12:00:00Z ERROR [worker-3] failed with {} after 3 tries",
    "# Set-up\n\n```sh\n{}\n```\n",
    "- run `{}` first\n- then wait",
    "| name | value |\n|---|---|\n| x | {} |",
    "Sorry, I pasted {}, please rotate it.",
    "“{}” is what I had",
    "feat: add client\n\nTested with {} on staging.\nSigned-off-by: A <a@example.org>",
)
"""Surroundings that they were not made with."""


def survives(secret: str, text: str) -> bool:
    """Tell whether a secret, or a good part of it, can still be read."""
    part = max(4, len(secret) * 2 // 3)
    return secret[:part] in text or secret[-part:] in text
