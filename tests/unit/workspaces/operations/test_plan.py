"""Everything is checked before anything is written, and each fault has its operation's index."""

import os
from pathlib import Path

import pytest

from orchestrator.formats.operations.read import BadOperations
from orchestrator.model.file_operations import FileOperation, FileOperations, FullContent, OperationKind
from orchestrator.model.hands import Deletes
from orchestrator.workspaces.operations.plan import Policy, planned


def do(kind, path, text=None):
    return FileOperation(
        OperationKind(kind), str(path), "why it is needed", None if text is None else FullContent(text)
    )


def plan(root, *operations, **policy):
    return planned(FileOperations(operations), Policy((root,), **policy))


def fault(root, *operations, **policy):
    with pytest.raises(BadOperations) as caught:
        plan(root, *operations, **policy)
    return str(caught.value)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/elsewhere/a", "lies in none of the allowed folders"),
        ("{root}/../a", "none of its parts is empty, '.' or '..'"),
        ("{root}//a", "none of its parts is empty"),
        ("{root}/./a", "none of its parts is empty"),
        ("{root}x/a", "lies in none"),
        ("{root}", "lies in none"),
        ("{root}/a\nb", "no control characters"),
        ("{root}/" + "n" * 256, "at most 255 bytes"),
        ("{root}" + "/d" * 500, "at most 1023 bytes"),
        ("{root}/.env", "hold secrets"),
        ("{root}/.ssh/config", "hold secrets"),
        ("{root}/ID_RSA", "hold secrets"),
        ("{root}/.git/hooks/pre-commit", "controls git"),
        ("{root}/.GIT/config", "controls git"),
        ("{root}/link/a", "is a link or no folder"),
        ("{root}/link", "is a link or no plain file"),
        ("{root}/dangling", "is a link or no plain file"),
        ("{root}/file/a", "is a link or no folder"),
        ("{root}/pipe", "is no plain file"),
        ("{root}/folder", "is no plain file"),
        ("{root}/file", "exists: use edit"),
    ],
)
def test_path_is_refused(tmp_path, path, reason):
    root = tmp_path / "root"
    for folder in (root, root / "folder", tmp_path / "out"):
        folder.mkdir()
    (root / "link").symlink_to(tmp_path / "out")
    (root / "dangling").symlink_to(tmp_path / "nothing")
    (root / "file").write_text("x")
    os.mkfifo(root / "pipe")
    good = do("create", root / "good", "x")
    found = fault(root, good, do("create", path.format(root=root), "x"))
    assert found.startswith("Operation 1: ")
    assert reason in found
    assert not (root / "good").exists()
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("path", ["/etc/passwd2", "/usr/x"])
def test_system_files_are_refused(path):
    assert "it is the system's" in fault(Path("/"), do("create", path, "x"))


@pytest.mark.parametrize("kind", ["edit", "append", "delete"])
def test_missing_file_is_refused(tmp_path, kind):
    assert "does not exist" in fault(tmp_path, do(kind, tmp_path / "a", None if kind == "delete" else "x"))


def test_sizes(tmp_path):
    assert "at most 10000000" in fault(tmp_path, do("create", tmp_path / "a", "é" * 5_000_001))
    (step,) = plan(tmp_path, do("create", tmp_path / "a", "x" * 1_000_001)).steps
    assert step.notes == ("large file: 1000001 bytes",)


def test_appending_to_what_is_not_utf8_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"\xff")
    assert "is not UTF-8" in fault(tmp_path, do("append", tmp_path / "a", "x"))


def test_operations_build_on_each_other(tmp_path):
    a = tmp_path / "new" / "a"
    steps = plan(tmp_path, do("create", a, "x"), do("append", a, "y"), do("create", a.parent / "b", "")).steps
    assert [step.new for step in steps] == [b"x", b"xy", b""]
    assert [step.folders for step in steps] == [(("new",),), (), ()]
    assert "is a file of another operation" in fault(
        tmp_path, do("create", a.parent, "x"), do("create", a, "x")
    )


def test_deletes_are_shown_refused_or_confirmed(tmp_path):
    file = tmp_path / "a"
    file.write_text("".join(f"{nth}\n" for nth in range(50)))
    ((index, path, preview),) = plan(tmp_path, do("delete", file)).unconfirmed
    assert (index, path, preview.split("\n")[-1]) == (0, str(file), "19")
    assert not plan(tmp_path, do("delete", file), confirmed=frozenset({str(file)})).unconfirmed
    assert not plan(tmp_path, do("delete", file), deletes=Deletes.ALLOW).unconfirmed
    assert "deletes are refused" in fault(tmp_path, do("delete", file), deletes=Deletes.REFUSE)


def test_changed_file_runs_as_nobody_else(tmp_path):
    """What an agent wrote must not run with the rights that somebody gave to other bytes."""
    file = tmp_path / "a"
    file.write_text("x")
    file.chmod(0o4755)
    (step,) = plan(tmp_path, do("edit", file, "y")).steps
    assert (step.before.mode, step.after.mode) == (0o4755, 0o755)
