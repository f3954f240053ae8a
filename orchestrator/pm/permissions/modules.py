"""`python -m`: which program a module is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from orchestrator.formats.text import names
from orchestrator.pm.permissions.defaults.development_tools import RUNNERS
from orchestrator.pm.permissions.fields import Field
from orchestrator.pm.permissions.runs import Inner

_MODULES: Final = names(
    "unittest compileall json.tool timeit doctest py_compile venv build tabnanny trace cProfile pstats"
    " http.server ast dis"
    " tokenize pdb zipfile tarfile gzip calendar sysconfig site platform pydoc inspect this virtualenv sphinx mkdocs"
)
"""Further modules that `python -m` may run."""

_UNFIT: Final = names(
    "twine keyring webbrowser smtplib ftplib telnetlib ensurepip awscli ansible fabric invoke pexpect"
    " nox.sessions gsutil"
    " flit poetry hatch pdm conda orchestrator setuptools easy_install pty code idlelib"
)
_OWN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")


def module(fields: Sequence[Field]) -> Inner | None:
    """Return the program that `python -m` runs, under its own name; None if python itself runs something."""
    at = 1
    while at < len(fields) and fields[at].text.startswith("-") and fields[at].certain:
        letters, at = fields[at].text[1:], at + 1
        if letters.startswith("-"):
            continue
        taker = next((place for place, letter in enumerate(letters) if letter in "cmWX"), None)
        if taker is None:
            continue
        if letters[taker] == "c":
            return None
        if letters[taker] == "m":
            return _of_python(letters[taker + 1 :], fields, at)
        at += not letters[taker + 1 :]
    return None


def _of_python(name: str, fields: Sequence[Field], at: int) -> Inner | None:
    """Return the program for a module, named by this word or by the one at that place."""
    if not name and at < len(fields) and fields[at].certain:
        name, at = fields[at].text, at + 1
    if name in RUNNERS or name == "pip":
        program = Field(name)
        if name == "pip" and "/" in fields[0].text:
            program = Field(f"{fields[0].text.rpartition('/')[0]}/pip")
        return Inner((program, *fields[at:]))
    if name in _MODULES:
        return Inner()
    if _OWN.fullmatch(name) and name.partition(".")[0] not in _UNFIT:
        return Inner((Field(name), *fields[at:]), module=True)
    return Inner(doubt=f"the module {name[:40]!a} is not a known development program")
