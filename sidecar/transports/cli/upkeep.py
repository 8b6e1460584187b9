"""The commands that look after what is kept: verify, restore, maintain."""

from argparse import Namespace
from datetime import UTC, datetime

from sidecar.app import Application
from sidecar.storage import snapshots
from sidecar.storage.vault import TEAM
from sidecar.transports.cli import screens
from sidecar.transports.exits import Exit
from sidecar.upkeep import maintenance


def verify(app: Application, options: Namespace) -> Exit:
    """Check every record, block and full-text row of a project."""
    vault = app.vault(options.project)
    findings = vault.verify()
    for finding in findings:
        screens.console.print(screens.clean(f"{finding.where}: {finding.what}"))
    if findings:
        screens.console.print(
            "`threadline restore` keeps what is whole and adds what a snapshot has"
        )
        return Exit.FAILED
    screens.console.print(
        f"all is well: {vault.sessions.count():,} sessions, {vault.sessions.count_events():,} events,"
        f" {len(vault.memories):,} memories"
    )
    return Exit.OK


def restore(app: Application, options: Namespace) -> Exit:
    """Put together what is whole in the vault and in its snapshots; keep the files as they were."""
    vault = app.vault(options.project)
    if options.list:
        for path in snapshots.snapshots(vault.folder):
            made = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            screens.console.print(
                f"{path.stem:<10} {screens.local(made)}  {path.stat().st_size / 1e6:.1f} MB"
            )
        return Exit.OK
    report = vault.recover("asked for")
    if report is None:
        screens.console.print("another process has just restored it")
        return Exit.OK
    screens.console.print(
        f"{report.salvaged:,} records kept, {report.completed:,} added from snapshots;"
        f" the files as they were are in {vault.folder / report.kept}"
    )
    return Exit.OK


def maintain(app: Application, _options: Namespace) -> Exit:
    """Do what waits in all projects, then end; another one that is at it already is left alone."""
    if not app.upkeep.is_free():
        return Exit.OK
    with app.upkeep.held():
        app.upkeep.path.touch()
        app.hearing.place()
        for project in app.home.projects():
            vault = app.home.vault(project.project_id)
            maintenance.maintain(vault, app.settings)
            maintenance.keep_safe(vault)
            if (vault.folder / TEAM).exists():
                from sidecar.upkeep import team  # noqa: PLC0415  # few are in one

                team.try_exchange(vault)
            app.background.prepare(vault)
    return Exit.OK
