"""Run the tests of the TinyDB release that we use on our tables; nothing of them is kept.

`python tests/tinydb_suite/run.py`: exits as pytest does.
"""

import importlib.metadata
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = ("test_tables.py", "test_operations.py", "test_queries.py", "test_tinydb.py")


def main() -> int:
    """Download, unpack, put our fixture in its place, run."""
    version = importlib.metadata.version("tinydb")
    with tempfile.TemporaryDirectory(prefix="tinydb-suite-") as place:
        folder = Path(place)
        tests = _unpacked(_downloaded(folder, version), folder)
        shutil.copy(Path(__file__).with_name("fixture.py"), tests / "conftest.py")
        # `-c` keeps our own settings out: these tests were written for others.
        command = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", f"--rootdir={tests}"]
        command += [
            "-p",
            "no:cacheprovider",
            "-p",
            "no:asyncio",
            "-W",
            "error",
            *(str(tests / name) for name in MODULES),
        ]
        return subprocess.run(command, cwd=ROOT, check=False).returncode


def _downloaded(folder: Path, version: str) -> Path:
    package = f"tinydb=={version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-binary", ":all:"]
    subprocess.run([*command, "--no-deps", "--dest", str(folder), package], check=True)
    (archive,) = folder.glob("tinydb-*.tar.gz")
    return archive


def _unpacked(archive: Path, folder: Path) -> Path:
    """Unpack the tests alone: TinyDB itself is the one that is installed."""
    with tarfile.open(archive) as packed:
        members = [member for member in packed if "/tests/" in member.name]
        packed.extractall(folder, members, filter="data")
    (tests,) = folder.glob("tinydb-*/tests")
    return tests


if __name__ == "__main__":
    sys.exit(main())
