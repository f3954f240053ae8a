"""`scripts/tidy-packages` on a small package of its own: what it does, and what it would see."""

from pathlib import Path

import pytest

from tests.packages.__main__ import a_user, row, worked_on
from tests.packages.looks import look
from tests.packages.package import Package, git, state_of

FILES = {
    "till/__init__.py": b"",
    "till/prices.py": b"import os\r\n\r\n\r\ndef price():\r\n    return 3\r\n",
    "till/latin.py": "# coding: latin-1\nimport os\nNAME = 'Zo\xeb'\n".encode("latin-1"),
    "tests/test_prices.py": b"from till.prices import price\n\n\ndef test_price():\n    assert price() == 3\n",
}


@pytest.fixture
def package(tmp_path):
    for name, data in FILES.items():
        path = tmp_path / "till" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return Package.read(f"{tmp_path / 'till'}:subtasks=3")


@pytest.mark.thorough(reason="it proves scripts/tidy-packages, not the daemon")
def test_package_is_worked_on_and_faults_would_show(package):
    """A package is worked on and what went wrong would be seen."""
    with a_user(None) as world:
        ((worked, looked, _),) = worked_on(world, [package], None, 300)
        assert not isinstance(looked, str), looked
        assert looked.faults == ()
        assert (looked.accepted, looked.aside, looked.tests) == (1, 0, (1, 1))
        assert looked.findings == (2, 1)  # one is in the file that is not UTF-8
        assert row(worked, looked, "").startswith(f"| till | {looked.lines} | 2 → 1 | 1, 0, 0 | 1 → 1 |")

        project = world.root / "packages" / "till"
        before = state_of(project, "till")
        harm(project)
        seen = "\n".join(look(world, package, project, before).faults)
    for what in (
        "the user's till/__init__.py changed",
        "the user's status changed",
        "2 commits for 1 accepted",
        "new line ends",
        "mode :100644 100755",
        "passed before and not on the branch",
    ):
        assert what in seen
    assert "was opened" not in seen


def harm(project: Path) -> None:
    """Do by hand what must never happen: to the user's tree, and on the task's branch."""
    (project / "till" / "__init__.py").write_text("x = 1\n", encoding="utf-8")
    tree = project.parent / "tree"
    git(project, "worktree", "add", "--quiet", str(tree), "task/till")
    bad = tree / "till" / "prices.py"
    bad.write_bytes(b"def price():\n    return 4\n")
    bad.chmod(0o755)
    git(tree, "reset", "--quiet", "--soft", "HEAD^")
    git(tree, "commit", "--quiet", "--all", "--message=harm")
    git(tree, "commit", "--quiet", "--allow-empty", "--message=more")
    git(project, "worktree", "remove", "--force", str(tree))
