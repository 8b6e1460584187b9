"""One tag releases everything: the same bytes from the same commit, and manifests that their readers accept."""

import email
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from protocol.versions import VERSION
from tests.support import ROOT
from tools import bundle, manifests, sbom

PACKAGES = Path("editors") / "vscode" / "node_modules"
OTHER_NAME = re.compile(r"(?!.*(--|\.\.))[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


def read(path: str) -> Any:
    return json.loads((ROOT / path).read_text("utf-8"))


def test_the_registry_entry_names_the_package_that_we_publish() -> None:
    """K2."""
    entry = read("server.json")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    [package] = entry["packages"]
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 1 <= len(entry["description"]) <= 100
    assert (entry["version"], package["version"]) == (VERSION, VERSION)
    assert package["identifier"] == project["name"]
    assert entry["description"] == project["description"]
    assert package["transport"] == {"type": "stdio"}
    # The registry looks for this line in the description of the published package.
    assert f"<!-- mcp-name: {entry['name']} -->" in (ROOT / project["readme"]).read_text("utf-8")


def test_every_manifest_has_our_version() -> None:
    """K2."""
    plugins = [path for path in manifests.write(VERSION) if path.endswith("plugin.json")]
    plugins.remove("editors/openclaw/openclaw.plugin.json")  # its version stands in package.json
    assert len(plugins) == 5  # Claude Code's two, Codex's, Cursor's and the open format's
    names = ["editors/gemini-cli/gemini-extension.json", "editors/vscode/package.json", *plugins]
    assert {path: read(path)["version"] for path in names} == dict.fromkeys(names, VERSION)


@pytest.mark.parametrize(
    "market", [".claude-plugin/marketplace.json", ".cursor-plugin/marketplace.json"]
)
def test_a_marketplace_lists_plugins_that_are_there(market: str) -> None:
    """K2."""
    folder = market.partition("/")[0]
    for plugin in read(market)["plugins"]:
        manifest = read(f"{plugin['source']}/{folder}/plugin.json")
        assert manifest["name"] == plugin["name"]
        assert manifest["version"] == plugin["version"] == VERSION


def test_claude_codes_plugin_brings_hooks_tools_skills_and_a_language_server() -> None:
    """K2."""
    plugin = ROOT / "editors" / "claude-code"
    [server] = read("editors/claude-code/.claude-plugin/plugin.json")["lspServers"].values()
    code = read("editors/claude-code-lsp/.claude-plugin/plugin.json")["lspServers"]["threadline"]
    assert [server["command"], *server["args"]] == ["threadline", "serve"]
    # The first server that claims an ending is the only one that Claude Code asks about it.
    assert not server["extensionToLanguage"].keys() & code["extensionToLanguage"].keys()
    assert ".py" in code["extensionToLanguage"]
    assert (plugin / "hooks" / "hooks.json").is_file()
    assert read("editors/claude-code/.mcp.json")["mcpServers"]["threadline"]["args"] == ["mcp"]
    assert len([*plugin.glob("skills/*/SKILL.md")]) == 4


def test_codexs_plugin_points_at_its_parts() -> None:
    """K2."""
    [plugin] = read(".agents/plugins/marketplace.json")["plugins"]
    folder = ROOT / plugin["source"]["path"]
    manifest = json.loads((folder / ".codex-plugin" / "plugin.json").read_text("utf-8"))
    parts = [folder / manifest[part] for part in ("skills", "mcpServers", "hooks")]
    assert [part.exists() for part in parts] == [True] * 3
    assert manifest["interface"]["displayName"] == "Threadline"


def test_the_open_plugin_holds_to_its_closed_format() -> None:
    """K2: fields, name and server as Agent Plugins 1.0 has them."""
    manifest = read("editors/agent-plugin/plugin.json")
    allowed = {"$schema", "name", "version", "description", "author", "homepage", "repository"}
    assert manifest.keys() <= allowed | {"license", "keywords", "extensions"}
    assert manifest["author"].keys() <= {"name", "email", "url"}
    assert OTHER_NAME.fullmatch(manifest["name"])
    servers = read("editors/agent-plugin/mcp.json")
    assert servers.keys() == {"$schema", "mcpServers"}
    assert servers["mcpServers"]["threadline"] == {
        "type": "stdio",
        "command": "threadline",
        "args": ["mcp"],
    }


def test_geminis_extension_starts_our_server() -> None:
    """K2."""
    extension = read("editors/gemini-cli/gemini-extension.json")
    assert extension["mcpServers"]["threadline"]["command"] == "threadline"
    assert re.fullmatch(r"[a-z0-9-]+", extension["name"])


def test_the_bill_of_materials_is_valid_cyclonedx() -> None:
    """K2."""
    schemas = pytest.importorskip("cyclonedx.schema").__path__[0]
    command = [sys.executable, "-m", "check_jsonschema", "--schemafile"]
    schema = Path(schemas) / "_res" / "bom-1.6.SNAPSHOT.schema.json"
    done = subprocess.run(
        [*command, str(schema), "--base-uri", schema.as_uri(), str(ROOT / sbom.FILE)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_bill_of_materials_names_what_is_needed_and_what_is_bundled() -> None:
    """K2."""
    bill = read(sbom.FILE)
    references = [component["bom-ref"] for component in bill["components"]]
    assert len(references) == len(set(references)) == len(bill["dependencies"]) - 1
    assert {"msgspec", "mcp", "preact"} <= {part["name"] for part in bill["components"]}
    assert not {"pytest", "ruff"} & {part["name"] for part in bill["components"]}
    known = {*references, bill["metadata"]["component"]["bom-ref"]}
    edges = [(edge["ref"], target) for edge in bill["dependencies"] for target in edge["dependsOn"]]
    assert known >= {end for edge in edges for end in edge}


def test_the_release_workflow_publishes_everything_that_is_built() -> None:
    """K2."""
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    for step in (
        *("make dist", "pypa/gh-action-pypi-publish", "attest-build-provenance", "vsce publish"),
        *("ovsx publish", "mcp-publisher publish", "docker/build-push-action"),
        "gh release create",
    ):
        assert step in text


def test_an_archive_depends_on_nothing_but_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    for name in ("a", "b"):
        folder = tmp_path / name
        (folder / "deep").mkdir(parents=True)
        (folder / "deep" / "file").write_text("x")
        (folder / "deep" / "file").chmod(0o600 if name == "a" else 0o755)
        bundle.pack(folder, tmp_path / f"{name}.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.namelist() == ["LICENSE", "deep/file"]


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / PACKAGES).is_dir(), reason="the extension's packages are missing")
def test_the_same_commit_gives_the_same_bytes(tmp_path: Path) -> None:
    """K2: wheel with its bill of materials, sdist, extension, plugins and checksums, built in two places."""
    first = _build(tmp_path / "first", umask=0o022, zone="Asia/Tokyo")
    second = _build(tmp_path / "a-second-place", umask=0o077, zone="America/Lima")
    assert first == second
    sums = first[bundle.SUMS].decode().splitlines()
    expected = {name: hashlib.sha256(data).hexdigest() for name, data in first.items()}
    del expected[bundle.SUMS]
    assert {line[66:]: line[:64] for line in sums} == expected
    wheel = f"threadline-{VERSION}-py3-none-any.whl"
    assert {wheel, f"threadline-{VERSION}.tar.gz", f"threadline-{VERSION}.vsix"} <= first.keys()
    with zipfile.ZipFile(tmp_path / "first" / "dist" / wheel) as archive:
        home = f"threadline-{VERSION}.dist-info"
        assert archive.read(f"{home}/sboms/{sbom.FILE}") == (ROOT / sbom.FILE).read_bytes()
        metadata = email.message_from_bytes(archive.read(f"{home}/METADATA"))
        assert metadata["Version"] == VERSION
        assert "sidecar/transports/web/pages/page.js" in archive.namelist()


def _build(folder: Path, *, umask: int, zone: str) -> dict[str, bytes]:
    """Build from a copy of what git knows, with the tools that are installed here; give every file that was made."""
    copy_sources(folder)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "TZ": zone}
    command = ["make", "--silent", "dist"]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        umask=umask,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.name: path.read_bytes() for path in (folder / "dist").iterdir()}


def copy_sources(folder: Path) -> None:
    """Copy what git knows, with the tools that are installed here."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.split("\0"):
        source = ROOT / name
        if name and source.is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / name)
    (folder / PACKAGES).symlink_to(ROOT / PACKAGES)
    (folder / PACKAGES / ".ready").touch()
    (folder / ".venv").symlink_to(ROOT / ".venv")
