"""What can become of code after a memory was made of it, and what is true of the memory then."""

from collections.abc import Callable
from typing import Literal

from benchmarks.cases import Case
from benchmarks.sources import Function

Truth = Literal["fresh", "stale", "elsewhere"]

_PROSE = [
    "The service waits for its neighbours before it begins.",
    "Every request carries a number of its own.",
    "Backups are made at night and kept for a month.",
    "Nobody may write to the archive but the archivist.",
    "A queue that is full refuses work instead of losing it.",
    "Clocks are compared once an hour.",
]

Fate = Callable[[Case], None]


def _untouched(case: Case) -> None:
    case.begin()


def _edited_elsewhere(case: Case) -> None:
    case.begin()
    case.edit(0)
    case.commit()
    case.edit(4)
    case.commit()


def _grown(case: Case) -> None:
    case.begin()
    case.write([Function(f"extra{n}", n) for n in range(3)] + case.functions[1:])
    case.commit()


def _laid_out_anew(case: Case) -> None:
    case.begin()
    case.write([Function(f.name, f.number, is_spread=True) for f in case.functions])
    case.commit("Format")


def _renamed(case: Case) -> None:
    case.begin()
    case.move(f"{case.path.rpartition('.')[0]}_new.{case.language.ending}")
    case.commit("Rename")


def _renamed_often(case: Case) -> None:
    case.begin()
    for step in range(3):
        case.move(f"place{case.number}/step{step}/file{step}.{case.language.ending}")
        if step != 1:
            case.edit(0)
        case.commit("Rename")
        case.edit(4)
        case.commit()


def _folder_moved(case: Case) -> None:
    case.begin()
    folder, _, name = case.path.rpartition("/")
    case.put(f"{folder}/other.txt", f"other {case.number}\n" * 5)
    case.commit()
    case.repository.git("mv", folder, f"moved{case.number}")
    case.path = f"moved{case.number}/{name}"
    case.commit("Move the folder")


def _renamed_and_rewritten(case: Case) -> None:
    """Git sees no rename here: little of the file is left but what the memory is about."""
    case.begin()
    case.move(f"anew{case.number}/file.{case.language.ending}")
    others = [Function(f"other{n}Part{case.number}", 9 * n) for n in range(9)]
    case.write([*others, case.subject])
    case.commit("Make anew")


def _copied(case: Case) -> None:
    case.begin()
    text = (case.repository.folder / case.path).read_text()
    case.put(f"copy{case.number}.{case.language.ending}", text)
    case.commit("Copy")


def _symbol_moved(case: Case) -> None:
    case.begin()
    moved = case.functions[2]
    target = f"{case.path.rpartition('/')[0]}/target.{case.language.ending}"
    case.put(target, case.language.write([moved]))
    case.write(case.functions[:2] + case.functions[3:])
    case.commit("Move a function")


def _reverted_twice(case: Case) -> None:
    case.begin()
    case.repository.git("revert", "--no-edit", case.sha)
    case.repository.git("revert", "--no-edit", "HEAD")


def _amended(case: Case) -> None:
    case.begin()
    old = case.sha
    case.repository.git("commit", "--quiet", "--amend", "--message", "Cap it, said better")
    case.became[old] = case.repository.git("rev-parse", "HEAD")


def _rebased(case: Case) -> None:
    case.write()
    case.commit("Begin")
    git = case.repository.git
    git("checkout", "--quiet", "-b", f"topic{case.number}")
    case.tell()
    git("checkout", "--quiet", "main")
    case.put(f"aside{case.number}.txt", "aside\n")
    case.commit("Aside")
    git("rebase", "--quiet", "main", f"topic{case.number}")
    git("checkout", "--quiet", "main")
    git("merge", "--quiet", "--ff-only", f"topic{case.number}")


def _merged(case: Case) -> None:
    _branched(case)
    git = case.repository.git
    git("merge", "--quiet", "--no-ff", "-m", "Merge", f"topic{case.number}")


def _squashed(case: Case) -> None:
    _branched(case)
    git = case.repository.git
    git("merge", "--quiet", "--squash", f"topic{case.number}")
    case.commit("All at once")


def _symbol_edited(case: Case) -> None:
    case.begin()
    case.edit(2)
    case.commit()


def _symbol_deleted(case: Case) -> None:
    case.begin()
    case.write(case.functions[:2] + case.functions[3:])
    case.commit()


def _symbol_renamed(case: Case) -> None:
    case.begin()
    old = case.functions[2]
    case.write([*case.functions[:2], Function(f"{old.name}Anew", old.number), *case.functions[3:]])
    case.commit()


def _file_deleted(case: Case) -> None:
    case.begin()
    case.repository.git("rm", "--quiet", case.path)
    case.commit("Delete")


def _renamed_and_edited(case: Case) -> None:
    _renamed(case)
    case.edit(2)
    case.commit()


def _renamed_and_deleted(case: Case) -> None:
    _renamed_often(case)
    case.repository.git("rm", "--quiet", case.path)
    case.commit("Delete")


def _reverted(case: Case) -> None:
    case.begin()
    case.edit(0)
    case.commit()
    case.repository.git("revert", "--no-edit", case.sha)


def _merge_reverted(case: Case) -> None:
    _merged(case)
    case.repository.git("revert", "--no-edit", "--mainline", "1", "HEAD")


def _undone_by_hand(case: Case) -> None:
    case.write()
    case.commit("Begin")
    before = list(case.functions)
    case.tell()
    case.write(before)
    case.commit("Never mind")


def _replaced(case: Case) -> None:
    case.begin()
    case.write([Function(f"new{n}Part{case.number}", 7 * n) for n in range(5)])
    case.commit("Make anew")


def _copy_deleted(case: Case) -> None:
    """The function was in two files, and goes from the one that the memory is about."""
    case.write()
    case.commit("Begin")
    case.edit(2)
    text = (case.repository.folder / case.path).read_text()
    case.put(f"aside{case.number}/copy.{case.language.ending}", text)
    case.say()
    case.write(case.functions[:2] + case.functions[3:])
    case.commit()


def _rebased_and_edited(case: Case) -> None:
    _rebased(case)
    case.edit(2)
    case.commit()


def _branched(case: Case) -> None:
    case.write()
    case.commit("Begin")
    case.repository.git("checkout", "--quiet", "-b", f"topic{case.number}")
    case.tell()
    case.repository.git("checkout", "--quiet", "main")


def _dropped(case: Case) -> None:
    case.begin()
    case.repository.git("reset", "--quiet", "--hard", "HEAD~1")
    case.dropped.add(case.sha)


def _text(case: Case) -> None:
    case.path = f"notes{case.number}.md"
    case.put(case.path, "# Notes\n\n" + "\n".join(_PROSE) + "\n")
    case.commit("Begin")
    told = "\n".join(f"The limit of part {n} is {case.subject.number}." for n in range(4))
    case.put(case.path, "# Notes\n\n" + "\n".join(_PROSE) + "\n\n" + told + "\n")
    case.say()


def _text_edited_elsewhere(case: Case) -> None:
    _text(case)
    path = case.repository.folder / case.path
    path.write_text(path.read_text().replace("at night", "at noon") + "\nOne more thing.\n")
    case.commit()


def _text_rewritten(case: Case) -> None:
    _text(case)
    path = case.repository.folder / case.path
    path.write_text(path.read_text().replace("The limit of part", "Nothing limits part"))
    case.commit()


FATES: dict[Fate, Truth] = {
    _untouched: "fresh",
    _edited_elsewhere: "fresh",
    _grown: "fresh",
    _laid_out_anew: "fresh",
    _renamed: "fresh",
    _renamed_often: "fresh",
    _folder_moved: "fresh",
    _renamed_and_rewritten: "fresh",
    _copied: "fresh",
    _symbol_moved: "fresh",
    _reverted_twice: "fresh",
    _amended: "fresh",
    _rebased: "fresh",
    _merged: "fresh",
    _squashed: "fresh",
    _text_edited_elsewhere: "fresh",
    _symbol_edited: "stale",
    _symbol_deleted: "stale",
    _symbol_renamed: "stale",
    _file_deleted: "stale",
    _renamed_and_edited: "stale",
    _renamed_and_deleted: "stale",
    _reverted: "stale",
    _merge_reverted: "stale",
    _undone_by_hand: "stale",
    _replaced: "stale",
    _copy_deleted: "stale",
    _rebased_and_edited: "stale",
    _text_rewritten: "stale",
    _branched: "elsewhere",
    _dropped: "elsewhere",
}
