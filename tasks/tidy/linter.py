"""Ruff, asked the same way all through a task.

The project's own rules count where it has any. Ruff looks for configuration upwards from each file, past the
work tree and into the user's own; so without a configuration at the top of the tree it is run isolated, and
one that reaches out of the tree is not used.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

import python_version
from errors import LinterError
from findings import Finding, parse
from wording import first_line

RUFF_SECONDS = 600
# Under the kernel's bound for one argument list, environment included.
ARGUMENT_BYTES = 500_000
CONFIGURATIONS = (".ruff.toml", "ruff.toml", "pyproject.toml")

DEFAULT_RULES = ("E4", "E7", "E9", "F", "W", "I", "UP", "B", "C4", "SIM", "PIE")
# Matters of taste, with large changes and little gain.
DEFAULT_WITHOUT = ("C408", "SIM108")
# Not RUF100: whether a `noqa` is of use, only the linter that it was written for can tell.
PYTHON_2_WITHOUT = ("UP", "SIM")
OTHER_PEOPLES = (
    "_vendor",
    "_vendored",
    "vendor",
    "vendored",
    "third_party",
    "extern",
    "external",
    "*_pb2*.py",
)


@dataclass(frozen=True)
class Manner:
    """How ruff is asked for one project."""

    own_rules: bool
    target: str
    without: tuple[str, ...] = ()
    note: str = ""

    def arguments(self) -> list[str]:
        """The options that make it so."""
        if self.own_rules:
            return []
        rules = [rule for rule in DEFAULT_RULES if rule not in self.without]
        return [
            "--isolated",
            f"--select={','.join(rules)}",
            f"--ignore={','.join(DEFAULT_WITHOUT)}",
            f"--target-version={self.target}",
            f"--extend-exclude={','.join(OTHER_PEOPLES)}",
        ]

    def to_json(self) -> dict[str, object]:
        """As findings.json keeps it."""
        return asdict(self)

    @classmethod
    def from_json(cls, said: dict[str, object]) -> Manner:
        """As findings.json has it.

        Raises:
            LinterError: it was not written by this template.
        """
        without = said.get("without")
        if not isinstance(without, list) or "target" not in said:
            raise LinterError("findings.json does not say how ruff was asked: let explore run again.")
        return cls(
            own_rules=bool(said.get("own_rules")),
            target=str(said["target"]),
            without=tuple(map(str, without)),
            note=str(said.get("note", "")),
        )


def survey(root: Path, files: Sequence[str]) -> tuple[Manner, list[Finding]]:
    """Decide how ruff is asked in this project, and ask.

    Raises:
        LinterError: ruff is not there, or fails with the default rules too.
    """
    own, note = own_configuration(root, files)
    if own:
        manner = Manner(own_rules=True, target="", note="the project's own ruff rules")
        try:
            return manner, findings(root, manner, files)
        except LinterError as error:
            note = f"the project's ruff configuration could not be used: {first_line(str(error))}"
    manner = default_manner(root, note)
    return manner, findings(root, manner, files)


def default_manner(root: Path, note: str = "") -> Manner:
    """The default rules, for the Python that the project supports."""
    oldest = python_version.of_project(root)
    without = [*(PYTHON_2_WITHOUT if oldest.python2 else ()), *(["I"] if _sorts_imports_itself(root) else [])]
    told = f"default rules for Python {oldest.version[0]}.{oldest.version[1]} and newer"
    if without:
        told += f", without {', '.join(without)}"
    return Manner(
        own_rules=False,
        target=oldest.ruff,
        without=tuple(without),
        note="; ".join(filter(None, [note, told])),
    )


def own_configuration(root: Path, files: Iterable[str]) -> tuple[bool, str]:
    """Whether the project's own configuration can be used, and if not, why (empty: there is none)."""
    if not any(_ruff_table(root / name) is not None for name in CONFIGURATIONS):
        return False, ""
    folders = {PurePosixPath()}.union(*(PurePosixPath(path).parents for path in files))
    for folder in sorted(folders):
        for name in CONFIGURATIONS:
            if _ruff_table(root / folder / name) is not None and not _stays(root, root / folder / name):
                return False, f"{folder / name} reaches out of the project, so it is not followed"
    return True, ""


def _stays(root: Path, configuration: Path) -> bool:
    """Whether a configuration and all that it extends lie in the tree."""
    inside, seen = root.resolve(), set()
    while configuration not in seen:
        seen.add(configuration)
        if not configuration.resolve().is_relative_to(inside):
            return False
        extended = (_ruff_table(configuration) or {}).get("extend")
        if not isinstance(extended, str):
            return True
        if extended.startswith("~") or "$" in extended:
            return False
        configuration = Path(os.path.normpath(configuration.parent / extended))
    return True


def _ruff_table(path: Path) -> dict[str, object] | None:
    """Ruff's settings in a file; None if it has none or is no file."""
    if not path.is_file():
        return None
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (tomllib.TOMLDecodeError, OSError):
        # Ruff will say what is wrong with it.
        return {} if path.name != "pyproject.toml" else None
    if path.name != "pyproject.toml":
        return data
    tool = data.get("tool")
    table = tool.get("ruff") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _sorts_imports_itself(root: Path) -> bool:
    """Whether the project sorts its imports with isort, whose order is not ruff's."""
    if (root / ".isort.cfg").exists():
        return True
    marks = {"pyproject.toml": b"[tool.isort", "setup.cfg": b"[isort]", "tox.ini": b"[isort]"}
    return any((root / name).is_file() and mark in (root / name).read_bytes() for name, mark in marks.items())


def findings(root: Path, manner: Manner, files: Sequence[str]) -> list[Finding]:
    """What ruff finds in these files of the tree at `root`.

    Raises:
        LinterError: ruff is not there, or refused.
    """
    found: list[Finding] = []
    for some in _batches(files):
        output = _ruff(
            root,
            ["check", "--output-format=json", "--no-fix", "--no-fix-only", *manner.arguments()],
            some,
        )
        found += parse(output, root.resolve())
    return found


def fix(root: Path, manner: Manner, files: Sequence[str], codes: Iterable[str], *, unsafe: bool) -> None:
    """Let ruff fix the findings of some rules in some files, in place.

    All rules of the project stay on and only these are fixed: a rule such as "unused noqa" judges by what is
    on.

    Raises:
        LinterError: ruff is not there, or refused.
    """
    for some in _batches(files):
        _ruff(
            root,
            [
                "check",
                "--fix-only",
                "--quiet",
                f"--fixable={','.join(sorted(codes))}",
                "--unsafe-fixes" if unsafe else "--no-unsafe-fixes",
                *manner.arguments(),
            ],
            some,
        )


def is_installed() -> bool:
    """Whether ruff can be run by this interpreter."""
    try:
        _ruff(Path.cwd(), ["--version"], [], options=())
    except LinterError:
        return False
    return True


def _ruff(
    root: Path,
    arguments: Sequence[str],
    files: Sequence[str],
    options: Sequence[str] = ("--no-cache", "--exit-zero", "--force-exclude"),
) -> str:
    # -P: a folder `ruff` in the project is not the program. `./`: no name is an option or a list of names.
    command = [sys.executable, "-P", "-m", "ruff", *arguments, *options, *(f"./{path}" for path in files)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUFF_")}
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env=environment | {"NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=RUFF_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LinterError(f"Ruff did not end within {RUFF_SECONDS} s.") from None
    if done.returncode:
        words = first_line(done.stderr.decode("utf-8", "replace")) or f"exit status {done.returncode}"
        raise LinterError(f"Ruff failed: {words}")
    return done.stdout.decode("utf-8", "replace")


def _batches(files: Sequence[str]) -> Iterator[list[str]]:
    """Files in portions that fit an argument list."""
    portion: list[str] = []
    size = 0
    for path in files:
        size += len(path.encode()) + 3
        if portion and size > ARGUMENT_BYTES:
            yield portion
            portion, size = [], len(path.encode()) + 3
        portion.append(path)
    if portion:
        yield portion
