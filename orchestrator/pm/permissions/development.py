"""Programs of development: they run what the agent wrote, so they are allowed where the run may write."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.model.permission import Act, PermissionDecision
from orchestrator.pm.permissions import inline, packages
from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.defaults.development_tools import (
    BUILDERS,
    CONVERTERS,
    ELSEWHERE,
    NEVER_WITH,
    OUTPUTS,
    PACKAGES,
    PUBLISHERS,
    RUNNERS,
    SUBCOMMANDS,
    VALUED,
)
from orchestrator.pm.permissions.defaults.known_programs import KNOWN
from orchestrator.pm.permissions.fields import ANYTHING, FILE_TEXT, FILES, Field
from orchestrator.pm.permissions.files import written
from orchestrator.pm.permissions.finding import Finding
from orchestrator.pm.permissions.matching import base, words_of
from orchestrator.pm.permissions.options import has_option, may_be_option
from orchestrator.pm.permissions.paths import granted
from orchestrator.pm.permissions.scanning import denied_within

_INLINE: Final = re.compile(r"-[A-Za-z0-9]*[ceEpr]|--eval|--print|--command|-[a-z]*[pn][a-z]*e")
_INTERPRETERS: Final = frozenset(
    {
        "python",
        "python3",
        "pypy",
        "pypy3",
        "ipython",
        "node",
        "deno",
        "bun",
        "perl",
        "ruby",
        "php",
        "R",
        "Rscript",
        "lua",
        "julia",
    }
)
_SHELLS: Final = frozenset({"bash", "sh", "dash"})
_MANAGERS: Final = frozenset(
    {
        "pip",
        "pip3",
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "uv",
        "poetry",
        "pipenv",
        "pdm",
        "bundle",
        "gem",
        "composer",
        "conda",
    }
)
_OF_SYSTEM: Final = ("/usr/", "/opt/", "/nix/", "/Library/", "/System/", "/dev/", "/bin/", "/lib")
_SCRIPT: Final = re.compile(r"(?:^|/)[\w.+-]+$")


def subcommand(call: Call) -> Finding | None:
    """Return the finding on a program whose first word is its subcommand."""
    known, first = SUBCOMMANDS[call.name], first_verb(call)
    if first is None or not first.certain or first.text not in known:
        return None
    return call.allow("builds, tests or looks")


def first_verb(call: Call) -> Field | None:
    """Return the subcommand of a program, after options that say where to work."""
    at, known = 0, SUBCOMMANDS.get(call.name, frozenset())
    while at < len(call.rest):
        field = call.rest[at]
        if not field.option or field.text in known:
            if not (call.name == "cargo" and field.text.startswith("+")):
                return field
            at += 1
        else:
            takes = field.text in {*ELSEWHERE.get(call.name, ()), *VALUED.get(call.name, ())}
            at += 2 if takes else 1
    return None


def developed(call: Call) -> Finding | None:
    """Return the finding on a development program: it may run what the agent wrote."""
    if has_option(_named(call), NEVER_WITH.get(call.name, ())) or (
        call.name == "cmake" and "-E" in call.texts
    ):
        return None
    if call.name in {"make", "gmake"} and any(
        text.startswith(("SHELL=", "MAKEFILES=")) for text in call.texts
    ):
        return call.doubt("runs its recipes by another program, or others than the project's")
    works = call.name in {*SUBCOMMANDS, *RUNNERS, *PACKAGES, *_MANAGERS, *_SHELLS} or not call.name
    if works and not call.at_home():
        return call.doubt("works outside of the run's folders") if call.name else None
    if (found := _elsewhere(call)) is not None:
        return found
    if call.name in SUBCOMMANDS and (found := subcommand(call)) is not None:
        return _publishing(call) or _installing(call) or _certain(call) or _outputs(call) or found
    if call.name in _MANAGERS and (found := packages.packaging(call)) is not None:
        return found
    if call.name in {*RUNNERS, *PACKAGES, *_SHELLS}:
        return _run(call)
    if not call.name and _own_program(call):
        return _certain(call) or call.allow("is a program of the project")
    return None


def _named(call: Call) -> list[Field]:
    """Return the program with the words that are certainly its own; those after `--` are another program's."""
    end = call.texts.index("--") + 1 if "--" in call.texts else len(call.fields)
    return list(call.fields[:end])


def _publishing(call: Call) -> Finding | None:
    """Return a doubt on a script that publishes something, judging by its name."""
    scripts = [text for text in call.texts if not text.startswith("-")]
    if call.name in {"npm", "pnpm", "yarn", "bun"}:
        verb = first_verb(call)
        at = call.rest.index(verb) if verb is not None else 0
        scripts = list(
            call.texts[at + 1 : at + 2]
            if verb is not None and verb.text in {"run", "run-script"}
            else call.texts[at : at + 1]
        )
    if call.name in BUILDERS and any(packages.sends(text) for text in scripts if "/" not in text):
        return call.doubt("publishes something, going by its name")
    if call.name in {"make", "gmake", "ninja"} and {"install", "uninstall"} & set(scripts):
        return call.doubt("installs outside of the project, going by its name")
    return None


def _installing(call: Call) -> Finding | None:
    """Return a doubt if something that is built is installed into the user's own folders."""
    if call.name == "go" and call.texts[:1] == ("env",) and any(text in {"-w", "-u"} for text in call.texts):
        return call.doubt("changes the user's settings")
    if call.name == "go" and call.texts[:1] == ("run",) and any("@" in text for text in call.texts[1:2]):
        return call.doubt("runs code from elsewhere than the project")
    return None


def _certain(call: Call) -> Finding | None:
    """Return a doubt if a word is not certain, or may name anything in a folder."""
    if any(not field.known for field in call.rest if field.many or field.text.startswith(ANYTHING)):
        return call.doubt("has arguments that are not known")
    return None


def _elsewhere(call: Call) -> Finding | None:
    """Return a doubt if something happens in a folder that is not the run's."""
    options = ELSEWHERE.get(call.name, ())
    for at, field in enumerate(call.rest):
        for option in options:
            if not may_be_option(field.text, option):
                continue
            glued = field.text.partition("=")[2] if field.text.startswith("--") else field.text[2:]
            value = Field(glued) if glued else call.rest[at + 1] if at + 1 < len(call.rest) else Field(".")
            if field.text.startswith(option) and any(
                not path or not granted(call.case, path) for path in call.paths(value.text)
            ):
                return call.doubt("works outside of the run's folders")
    return None


def _run(call: Call) -> Finding | None:
    """Return the finding on a program that runs code, or builds."""
    if call.name in _SHELLS:
        return _script(call)
    if found := _certain(call) or _publishing(call):
        return found
    if call.given is not None and "-" in call.texts and (found := denied_within(call.case, call.given)):
        return found
    if call.name in {"deno", "bun"} and any("://" in text for text in call.texts):
        return call.doubt("runs code from elsewhere than the project")
    if call.name in _INTERPRETERS:
        if (
            call.given is not None
            and not Field(call.given).known
            and call.given != FILE_TEXT
            and not call.rest
        ):
            return call.doubt("runs what it reads, which is not known")
        code = [call.given] if call.given is not None and not _names_script(call) else []
        code += [call.texts[at + 1] for at, text in enumerate(call.texts[:-1]) if _INLINE.fullmatch(text)]
        whole = "\n".join(code)
        if whole and (found := inline.running(call, whole)):
            return found
        if (
            call.name in {"python", "python3"}
            and any(text.endswith("setup.py") for text in call.texts[:2])
            and {"upload", "register", "install"} & set(call.texts)
        ):
            return call.doubt("installs or publishes")
        if call.name == "perl" and (found := _in_place(call)):
            return found
    return _outputs(call) or _outside(call) or call.allow("is a program of development")


def _outside(call: Call) -> Finding | None:
    """Return a doubt if a program has files as arguments that are neither the run's nor the system's."""
    for field in call.rest:
        pathlike = field.text.startswith(("/", "~", "../", "./")) or field.text == ".."
        if not pathlike or field.text.startswith("//"):
            continue
        for path in call.paths(field.text):
            if (
                not path
                or field.tilde
                or not (
                    granted(call.case, path)
                    or path.startswith(_OF_SYSTEM)
                    or path in call.case.workplace.temporary
                )
            ):
                return call.doubt("has files as arguments that are not the run's")
    return None


def _in_place(call: Call) -> Finding | None:
    """Return the finding on the files that `perl -i` edits."""
    if not any(re.fullmatch(r"-[A-Za-z0-9]*i.*", text) for text in call.texts):
        return None
    at = next(
        (place for place, text in enumerate(call.texts) if re.fullmatch(r"-[A-Za-z0-9.]*e", text)), None
    )
    files = [field for field in call.rest[at + 2 :] if not field.option] if at is not None else []
    found = written(call, files)
    return found if found.decision is not PermissionDecision.ALLOW else None


def _names_script(call: Call) -> bool:
    return any(not text.startswith("-") for text in call.texts)


def _script(call: Call) -> Finding | None:
    """Return the finding on a shell that runs a script of the project, or one in a temporary folder."""
    scripts = [field for field in call.rest if not field.option and field.text != "pipefail"]
    if not scripts and call.given == FILE_TEXT:
        return call.allow("runs a script of the project")
    if not scripts or not scripts[0].known or scripts[0].tilde or scripts[0].glob:
        return None
    if not _is_path(scripts[0].text):
        return None  # the shell would search the path for it as well
    if all(path and granted(call.case, path) for path in call.paths(scripts[0].text)):
        return _certain(call) or call.allow("runs a script of the project")
    return None


def _is_path(text: str) -> bool:
    return (
        "/" in text or not FILES.isdisjoint(text) or re.fullmatch(r"[\w+-]+\.[A-Za-z]{1,5}", text) is not None
    )


def _own_program(call: Call) -> bool:
    """Return whether a program is named by a path that lies in the run's own folders."""
    field = call.fields[0]
    if "/" not in field.text or field.tilde or not _SCRIPT.search(field.text):
        return False
    own = base(field.text)
    if own in PUBLISHERS:
        return False
    if call.lies_inside(field):
        return True
    named = {
        base(words_of(rule)[0]) for rule in call.case.policy.rules if rule.act is Act.RUN and words_of(rule)
    }
    return own not in KNOWN | named and all(
        path and granted(call.case, path) for path in call.paths(field.text)
    )


def _outputs(call: Call) -> Finding | None:
    """Return a doubt if a program is to write files that are not the run's."""
    named = list[Field]()
    for at, field in enumerate(call.rest):
        option, equals, value = field.text.partition("=")
        if option in OUTPUTS and equals:
            named.append(Field(value))
        elif option in OUTPUTS and at + 1 < len(call.rest):
            named.append(call.rest[at + 1])
    if call.name in CONVERTERS and len(call.rest) > 1 and not call.rest[-1].option:
        named.append(call.rest[-1])
    outside = [field for field in named if field.text.startswith(("/", "~", "..")) or field.tilde]
    found = written(call, outside)
    return found if found.decision is not PermissionDecision.ALLOW else None
