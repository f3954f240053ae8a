"""A package as its user has it: unpacked, under git with one commit, with a virtualenv if its tests need one."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

TEMPLATE = Path(__file__).parents[2] / "tasks" / "tidy" / "task.md"
MADE_HERE = (".venv/", "build/", "*.so", "*.egg-info/", "__pycache__/")
MINUTES = 600

State = Mapping[str, tuple[int, int, str]]
"""Each file's mode, time of change and hash."""


@dataclass(frozen=True)
class Package:
    """What is asked for: `NAME==VERSION[:WORD…]`, or `FOLDER[:WORD…]` for one that lies there.

    Words: `with=A,B` makes a virtualenv with pytest and these; `editable=FOLDER,FOLDER` installs these of the
    project's folders so; `build` compiles extensions in place; any other `KEY=VALUE` is a setting of task.md's
    `## Tidy`.
    """

    what: str
    needs: tuple[str, ...] = ()
    editable: tuple[str, ...] = ()
    build: bool = False
    settings: tuple[tuple[str, str], ...] = field(default=())

    @classmethod
    def read(cls, text: str) -> Package:
        """Read one argument."""
        what, *words = text.split(":")
        pairs = dict(word.partition("=")[::2] for word in words)
        needs, editable = (
            tuple(filter(None, pairs.pop(word, "").split(","))) for word in ("with", "editable")
        )
        build = "build" in pairs
        pairs.pop("build", None)
        return cls(what.rstrip("/"), needs, editable, build, tuple(pairs.items()))

    @property
    def title(self) -> str:
        """What it is called in the table."""
        return Path(self.what).name.replace("==", " ")

    @property
    def name(self) -> str:
        """The name of its task."""
        return "".join(char if char.isalnum() else "-" for char in self.title.partition(" ")[0].lower())

    def fetched(self, folder: Path) -> Path:
        """Lay the package down as a project under git in `folder`, and return where."""
        project = folder / self.name
        if Path(self.what).is_dir():
            shutil.copytree(self.what, project, symlinks=True)
        else:
            _unpacked(self.what, folder / f"{self.name}.sdist").rename(project)
        if not (project / ".git").exists():
            git(project, "init", "--quiet", "--initial-branch=main")
            git(project, "add", "--all")
            git(project, "commit", "--quiet", "--no-verify", "--message=As it came")
        with (project / ".git" / "info" / "exclude").open("a") as exclude:
            exclude.writelines(f"{pattern}\n" for pattern in MADE_HERE)
        self._provide(project)
        return project

    def _provide(self, project: Path) -> None:
        if not (self.needs or self.editable or self.build):
            return
        _run([sys.executable, "-m", "venv", ".venv"], project)
        python = str(project / ".venv" / "bin" / "python")
        _run([python, "-m", "pip", "install", "--quiet", "pytest", "setuptools", *self.needs], project)
        for folder in self.editable:
            _run(
                [python, "-m", "pip", "install", "--quiet", "--no-deps", "--editable", f"./{folder}"], project
            )
        if self.build:
            _run([python, "setup.py", "--quiet", "build_ext", "--inplace"], project)

    def lay_brief(self, project: Path) -> None:
        """Write the task.md, where the template's own does not do."""
        if self.settings:
            brief = project / "tasks" / self.name / "task.md"
            brief.parent.mkdir(parents=True)
            lines = "".join(f"- {key}: {value}\n" for key, value in self.settings)
            brief.write_text(f"{TEMPLATE.read_text(encoding='utf-8')}\n{lines}", encoding="utf-8")


def _unpacked(what: str, folder: Path) -> Path:
    """Get a source distribution, and return the folder that it holds."""
    folder.mkdir(parents=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", what]
    _run(pip, folder)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, check=True, timeout=MINUTES)


def git(project: Path, *words: str) -> str:
    """Run git, whatever the user's is set to, and return what it printed."""
    done = subprocess.run(
        ["git", "-c", "user.name=A User", "-c", "user.email=user@localhost", *words],
        cwd=project,
        env={"PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_OPTIONAL_LOCKS": "0"},
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=MINUTES,
        check=True,
    )
    return done.stdout.removesuffix("\n")


def state_of(project: Path, task: str) -> dict[str, tuple[int, int, str]]:
    """What the user has: every file but the task's own, git's index, settings, hooks and branches with them."""
    found = {path: _file(project / path) for path in _files(project) if not path.startswith(f"tasks/{task}/")}
    refs = git(
        project, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags", "refs/stash"
    )
    own = [line for line in refs.splitlines() if not line.startswith(f"refs/heads/task/{task} ")]
    status = git(project, "status", "--porcelain")
    return found | {
        "status": (0, 0, status),
        "refs": (0, 0, "\n".join(own)),
        "HEAD": (0, 0, (project / ".git" / "HEAD").read_text()),
    }


def _files(project: Path) -> Iterator[str]:
    git_kept = (".git/index", ".git/config", ".git/hooks/")
    for folder, _, names in os.walk(project):
        for name in names:
            path = (Path(folder) / name).relative_to(project).as_posix()
            if not path.startswith(".git/") or path.startswith(git_kept):
                yield path


def _file(path: Path) -> tuple[int, int, str]:
    about = path.lstat()
    data = os.fsencode(path.readlink()) if stat.S_ISLNK(about.st_mode) else path.read_bytes()
    return about.st_mode, about.st_mtime_ns, hashlib.sha256(data).hexdigest()
