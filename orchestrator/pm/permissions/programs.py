"""The default judgement of one plain command."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from orchestrator.model.permission import PermissionDecision
from orchestrator.pm.permissions import databases, network, patches, processes
from orchestrator.pm.permissions.archives import archiving, copying
from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.defaults.shell_tools import PLAIN, READERS, REMOTE_COPY, WRITERS
from orchestrator.pm.permissions.development import developed, subcommand
from orchestrator.pm.permissions.fields import ANYTHING, Field
from orchestrator.pm.permissions.files import linking, read_word, reading, writing, written
from orchestrator.pm.permissions.finding import Finding, strictest
from orchestrator.pm.permissions.git import judged_git
from orchestrator.pm.permissions.matching import base
from orchestrator.pm.permissions.scripts import awk_only_prints, sed_only_edits
from orchestrator.pm.permissions.searching import search

_REMOTE: Final = re.compile(r"(?:[^/]*:.*|rsync://.*)", re.DOTALL)
_TELLS: Final = frozenset({"--version", "-V", "--help"})


def by_default(call: Call) -> Finding | None:
    """Return the default for a command; None if there is none."""
    if len(call.rest) == 1 and call.texts[0] in _TELLS and "/" not in call.fields[0].text:
        return call.allow("only prints information")
    name = call.name
    if name == "command" and call.texts[:1] in {("-v",), ("-V",)}:
        return call.allow("only prints information")
    if name in {"test", "[", "printf"} and any(
        "$(" in text or "`" in text or text == "-v" for text in call.texts
    ):
        return call.doubt("may run code in an array index")
    if name in PLAIN:
        return call.allow("changes nothing")
    if name in {"sed", "gsed", "awk", "gawk", "mawk", "uniq"}:
        return _edited(call)
    if name == "find":
        return _found(call)
    if name in READERS and not (name == "xxd" and "-r" in " ".join(call.texts)):
        return _read(call)
    if name == "ln":
        return linking(call)
    if name in WRITERS:
        return writing(call)
    if base(call.fields[0].text) in {"chown", "chgrp"}:
        return writing(Call(call.case, "chown", call.fields, call.scope, call.given))
    if base(call.fields[0].text) == "dd":
        return _copied(call)
    return _by_kind(call)


def exempt(call: Call) -> Finding | None:
    """Return the permission of a command that is otherwise denied; None if there is none."""
    if len(call.rest) == 1 and call.texts[0] in _TELLS and "/" not in call.fields[0].text:
        return call.allow("only prints information")
    if call.name == "kill":
        return processes.ending(call)
    if call.name == "mount" and not call.rest:
        return call.allow("only prints information")
    if call.name in {"systemctl", "crontab", "launchctl"}:
        found = subcommand(call)
        return found if found is not None and found.decision is PermissionDecision.ALLOW else None
    if call.name == "service" and call.texts[1:] == ("status",):
        return call.allow("only prints information")
    return None


def _by_kind(call: Call) -> Finding | None:
    """Return the default for a program that has rules of its own."""
    return _KINDS.get(call.name, developed)(call)


def _watched(call: Call) -> Finding | None:
    """Return the finding on `top` and the like: without an option that ends them they wait for keys."""
    ends = "-b" in " ".join(call.texts) or "-l" in call.texts
    return processes.listing(call) if ends else None


def _reached(call: Call) -> Finding | None:
    """Return the finding on a program that copies to and from other machines."""
    if any(_REMOTE.fullmatch(text) for text in call.texts):
        return call.deny("reaches another machine")
    return copying(call) if call.name == REMOTE_COPY else None


def _dumped(call: Call) -> Finding | None:
    """Return the finding on `xxd -r`, which writes."""
    operands = [field for field in call.rest if not field.option]
    return strictest([reading(call), written(call, operands[1:2])])


def _variables(call: Call) -> Finding | None:
    return call.allow("only reads") if call.rest and not _secret_names(call) else None


def _temporary(call: Call) -> Finding:
    """Return the finding on `mktemp`: it makes a file as its template says."""
    template = [field for field in call.rest if not field.option]
    if any(text.startswith(("-p", "--tmpdir=")) or (text == "-t" and template) for text in call.texts):
        return call.allow("makes a temporary file") if not template else call.doubt("makes a file elsewhere")
    return strictest([call.allow("makes a temporary file"), written(call, template)])


def _secret_names(call: Call) -> bool:
    return any(
        re.search(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", text, re.IGNORECASE) for text in call.texts
    )


def _read(call: Call) -> Finding:
    if call.name in {"less", "more"} and any(text.startswith("+") for text in call.texts):
        return call.doubt("may run a command after `+`")
    if call.name == "date" and any(
        not text.startswith(("-", "+")) for text in call.texts if not _after_d(call, text)
    ):
        return call.doubt("may set the clock")
    return reading(call)


def _after_d(call: Call, text: str) -> bool:
    at = call.texts.index(text)
    return at > 0 and call.texts[at - 1] in {"-d", "-r", "-v", "-f", "-j", "--date"}


def _found(call: Call) -> Finding:
    """Return the finding on `find`: the command that it runs for each file is judged separately."""
    left_out = {"-delete", "-exec", "-execdir", "{}", ";", "+"}
    fields = tuple(field for field in call.fields if field.text not in left_out)
    read = search(call.rest)
    deleted = [
        Field(read.path(chosen=chosen)) for at, chosen in read.chosen.items() if call.texts[at] == "-delete"
    ]
    return strictest(
        [
            reading(Call(call.case, "find", fields, call.scope)),
            *([written(call, deleted)] if deleted else []),
        ]
    )


def _edited(call: Call) -> Finding:
    """Return the finding on programs that read or write by a script of their own."""
    name = call.name
    if name == "uniq":
        operands = [field for field in call.rest if not field.option]
        return reading(call) if len(operands) < 2 else call.doubt("writes a file")  # noqa: PLR2004 (from and to)
    texts = [field.text for field in call.rest]
    if name in {"sed", "gsed"}:
        edit = sed_only_edits(texts)
        if edit is None or any(ANYTHING in text for text in edit.scripts):
            return call.doubt("runs a script that is not certain")
        files = [field for field in call.rest if field.text in set(edit.files)]
        return (
            writing(Call(call.case, "sed", (call.fields[0], *files), call.scope))
            if edit.in_place
            else _files_of(call, files)
        )
    printed = awk_only_prints(texts)
    script = texts[-len(printed) - 1] if printed is not None else ""
    if printed is None or ANYTHING in script:
        return call.doubt("runs a script that is not certain")
    return _files_of(call, [field for field in call.rest if field.text in set(printed)])


def _files_of(call: Call, files: list[Field]) -> Finding:
    return reading(Call(call.case, "cat", (call.fields[0], *files), call.scope))


def _copied(call: Call) -> Finding:
    """Return the finding on `dd`."""
    values = dict(text.partition("=")[::2] for text in call.texts)
    if values.get("of", "").startswith("/dev/") and values["of"] != "/dev/null":
        return call.deny("writes to a device")
    if not set(values) <= {"if", "of", "bs", "count", "skip", "seek", "conv", "status", "iflag", "oflag"}:
        return call.doubt("has options of which there is no default")
    outputs = [Field(values["of"])] if "of" in values else []
    return strictest(
        [written(call, outputs), *(read_word(call, Field(values["if"])) for _ in range("if" in values))]
    )


_KINDS: Final[dict[str, Callable[[Call], Finding | None]]] = {
    "git": judged_git,
    **dict.fromkeys(("curl", "wget"), network.requesting),
    **dict.fromkeys(("nc", "ncat", "ping", "telnet"), network.connecting),
    "sqlite3": databases.querying,
    "apply_patch": patches.applying,
    "patch": patches.patching,
    "ps": processes.listing,
    **dict.fromkeys(("top", "htop"), _watched),
    **dict.fromkeys(("tar", "gtar", "bsdtar", "zip", "unzip"), archiving),
    **dict.fromkeys(("rsync", "scp"), _reached),
    "mktemp": _temporary,
    "xxd": _dumped,
    "printenv": _variables,
}
"""The programs that have rules of their own; all others are judged as development programs."""
