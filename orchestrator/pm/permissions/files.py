"""Programs that read, write, move or delete the files that their words name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from orchestrator.model.permission import Act, PermissionDecision, PermissionRule
from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.defaults.shell_tools import PATTERN_FIRST, READERS, WRITER_WORDS, WRITERS
from orchestrator.pm.permissions.fields import ANY_FILE, ANYTHING, MARKS, Field
from orchestrator.pm.permissions.finding import Finding, built_in, by_rule, shown, strictest
from orchestrator.pm.permissions.options import has_option
from orchestrator.pm.permissions.paths import granted, inside, judged_path, may_reach, protected, resolved

_MODE: Final = re.compile(r"0?[0-7]{3}|(?:[ugoa]*[-+=][rwxX]*)(?:,[ugoa]*[-+=][rwxX]*)*")
_MODE_OPTION: Final = re.compile(r"-[rwxX]+")
_LONGEST_PATH: Final = 4096
_HOME: Final = re.compile(r"/(?:~[^/]*/*|(?:home|Users)(?:/[^/]+)?/?|root/?)?")
_BETWEEN: Final = re.compile(r"[=:,]")
_HIDDEN_BY_GLOB: Final = re.compile(
    r"(?:^|[/=:])\.[^/]*[*?\[]|[*?\[][^/]*(?:env|rsa|25519|cred)|(?:env|rsa|25519|cred)[^/]*[*?\[]|^/proc.*[*?\[]"
)
_OF_PROGRAMS: Final = re.compile(r"/\.(?:claude|codex|gemini|opencode)/[^/]*$", re.IGNORECASE)
_LITERALS: Final = 2
_TOP: Final = 2


def reading(call: Call) -> Finding:
    """Return the finding on a program that reads whatever files its words name."""
    if has_option([call.fields[0], *_known(call.rest)], READERS.get(call.name, ())):
        return call.doubt("may do more than read")
    findings = [call.allow("only reads")]
    searches = _searches(call)
    if searches and any(_is_home(field, call) for field in call.rest):
        findings.append(call.doubt("reads a whole home"))
    skip = call.name in PATTERN_FIRST and not any(
        field.text.startswith(("-e", "--regexp", "--file")) or re.match(r"-[A-Za-z]*[ef]", field.text)
        for field in call.rest
    )
    takes = False
    for field in call.rest:
        if skip and not field.option:
            skip = False
        elif ANYTHING in field.text and not field.many and (takes or field.option):
            pass  # the value of an option
        else:
            findings.append(read_word(call, field, search=searches and not field.option))
        takes = field.option and re.fullmatch(r"-[A-Za-z]|--[a-z-]+", field.text) is not None
    if searches and not [field for field in call.rest if not field.option][call.name in PATTERN_FIRST :]:
        findings.append(read_word(call, Field("."), search=True))
    return strictest(findings)


def read_word(call: Call, field: Field, *, search: bool = False) -> Finding:
    """Return the finding on reading what one word may name: each part of it is taken for a path.

    `search`: everything below it is read as well.
    """
    case = call.case
    if not field.known:
        return case.doubt(f"what {shown(field.text)} stands for is not known")
    if len(field.text) > _LONGEST_PATH:
        return case.doubt(f"{shown(field.text)} is too long for a path")
    if field.glob and _HIDDEN_BY_GLOB.search(field.text.casefold()):
        return case.doubt(f"{shown(field.text)} may name files that hold secrets")
    if field.tilde and (
        case.rules(Act.READ, PermissionDecision.DENY) or case.rules(Act.READ, PermissionDecision.ASK)
    ):
        findings = [case.doubt(f"whose home {shown(field.text)} begins with is not known")]
    else:
        findings = [built_in(PermissionDecision.ALLOW, "it names no file")]
    for part in dict.fromkeys([field.text, *_BETWEEN.split(field.text)]):
        if part and not part.startswith("--"):
            for path in _all_paths(part, call.places):
                findings.append(judged_path(case, Act.READ, path, granted=granted(case, path)))
                if search and (rule := may_reach(case, Act.READ, path)) and not _left_out(call, rule):
                    where = f"searching {shown(path)} without an option that leaves that out"
                    findings.append(by_rule(rule, where))
    return strictest(findings)


def writing(call: Call) -> Finding:
    """Return the finding on a program that writes, moves or deletes the files that its words name."""
    name = call.name
    if name == "chown":
        outside = [field for field in call.rest[1:] if not field.option]
        found = strictest([call.case.otherwise(call.shown), *(_written(call, field) for field in outside)])
        return _hardened(call, found, outside)
    operands = _operands(call)
    if operands is None:
        return _hardened(call, call.doubt("has options without a default"), call.rest)
    if name == "chmod":
        mode = next((field.text for field in call.rest if _MODE_OPTION.fullmatch(field.text)), None)
        if mode is None and (not operands or not _MODE.fullmatch(operands[0].text)):
            return _hardened(call, call.doubt("gives permissions of an unknown kind"), operands[1:])
        operands = operands if mode is not None else operands[1:]
    moved = operands if name in {"cp", "mv", "install", "ln"} else []
    read, operands = (operands[:-1], operands[-1:]) if name in {"cp", "install"} else ([], operands)
    if not operands and name not in {"tee", "sponge"}:
        return call.doubt("names no files")
    findings = [call.allow("writes where the run may write")]
    findings += [read_word(call, field) for field in read]
    findings += [_written(call, field, whole=name in {"rm", "mv", "rmdir"}) for field in operands]
    findings += [_written(call, _beside(each, moved[-1])) for each in moved[:-1]]
    if name == "cp" and len(call.rest) > len(moved) and any(_is_home(field, call) for field in read):
        findings.append(call.doubt("reads a whole home"))
    return _hardened(call, strictest(findings), operands)


def linking(call: Call) -> Finding:
    """Return the finding on `ln`: a link may lead to where the run may not write."""
    operands = _operands(call)
    if operands is None or not operands:
        return call.doubt("has options without a default")
    findings = [writing(call.of([*operands[1:], operands[-1]] if len(operands) > 1 else [Field(".")]))]
    for target in operands[:-1] or operands:
        beside = operands[-1].text.rstrip("/").rpartition("/")[0] if len(operands) > 1 else ""
        near = f"{beside}/{target.text}" if beside and not target.text.startswith("/") else target.text
        texts = (
            [near]
            if any(re.match(r"-[a-z]*s|--symbolic", text) for text in call.texts)
            else [target.text, near]
        )
        paths = [path for text in texts for path in call.paths(text)]
        if target.tilde or not all(path and inside(path, call.case.workplace.grants) for path in paths):
            findings.append(call.doubt("makes a link to what the run may not write"))
        if any(protected(f"{path}/config") for path in paths):
            findings.append(call.doubt("makes a link to what controls git or the agent's own program"))
    return strictest(findings)


def write_target(call: Call, field: Field) -> Finding:
    """Return the finding on a redirection to a file."""
    return _written(call, field)


def written(call: Call, fields: Iterable[Field]) -> Finding:
    """Return the finding on files that a program writes."""
    return strictest(
        [call.allow("writes where the run may write"), *(_written(call, each) for each in fields)]
    )


def _left_out(call: Call, rule: PermissionRule) -> bool:
    """Return whether an option of a search leaves out what a rule covers."""
    names = [part for part in rule.pattern.strip("'").split("/") if part.strip("*")]
    options = [text for text in call.texts if text.startswith(("--exclude", "-g!", "--glob=!", "!"))]
    return bool(names) and any(names[-1].strip("*") in text for text in options)


def _known(fields: Sequence[Field]) -> list[Field]:
    return [field for field in fields if not field.text.startswith(ANYTHING)]


def _searches(call: Call) -> bool:
    """Return whether a program also reads everything below the folders that its words name."""
    if call.name in {"rg", "ag", "ack", "diff"}:
        return True
    recursive = any(re.match(r"-[A-Za-z]*[rR]|--(?:dereference-)?recursive", text) for text in call.texts)
    return call.name in {"grep", "egrep", "fgrep", "zgrep"} and recursive


def _beside(source: Field, folder: Field) -> Field:
    """Return the file that a source becomes if its target is a folder."""
    name = source.text.rstrip("/").rpartition("/")[2]
    return replace(folder, text=f"{folder.text}/{name if name not in {'.', '..'} else ''}", glob=False)


def _is_home(field: Field, call: Call) -> bool:
    home = call.case.workplace.home
    return any(
        _HOME.fullmatch(path) is not None or (home and path == home)
        for path in _all_paths(field.text, call.places)
    )


def _written(call: Call, field: Field, *, whole: bool = False) -> Finding:
    """Return the finding on writing what a word names; `whole`: with everything below it."""
    case = call.case
    if not field.known or len(field.text) > _LONGEST_PATH:
        return case.doubt(f"which file {shown(field.text)} names is not known")
    hidden = [part for part in field.text.split("/") if part.startswith(".") and part not in {".", ".."}]
    if field.glob and any(not set("*?[").isdisjoint(part) for part in hidden):
        return case.doubt(f"which file {shown(field.text)} names is not known")
    if (field.glob or not MARKS.isdisjoint(field.text)) and _OF_PROGRAMS.search(f"/{field.text}"):
        return case.doubt(f"{shown(field.text)} may name what controls an agent's program")
    if ANY_FILE in field.text:
        return case.doubt(f"{shown(field.text)} may name what controls git, or anything else in its folder")
    if field.tilde:
        return strictest(
            [
                judged_path(case, Act.WRITE, path, granted=False)
                for path in _all_paths(field.text, call.places)
            ]
        )
    findings = list[Finding]()
    for path in call.paths(field.text):
        if not path:
            return case.doubt(f"the folder of {shown(field.text)} is not known")
        if whole and (path in case.workplace.grants or path in case.workplace.temporary):
            return case.doubt(f"{shown(field.text)} is the whole of a folder that the run was granted")
        if whole and field.glob and not inside(path, case.workplace.grants) and _names_little(path):
            return case.doubt(f"{shown(field.text)} may name files of others")
        findings.append(judged_path(case, Act.WRITE, path, granted=granted(case, path)))
        if whole and (rule := may_reach(case, Act.WRITE, path)) and rule.pattern.startswith("/"):
            findings.append(case.doubt(f"{shown(path)} may contain what the rule `{rule}` covers"))
    return strictest(findings)


def _names_little(path: str) -> bool:
    """Return whether a pattern in a folder for temporary files may stand for anything there."""
    last = path.rpartition("/")[2]
    letters = sum(sign.isalnum() for sign in last.split("*")[0].split("?")[0])
    return letters < _LITERALS and path.count("/") <= _TOP


def _all_paths(text: str, places: Iterable[str]) -> Iterator[str]:
    """Return the paths that a text may mean. An unknown home stands for itself."""
    if text.startswith("~"):
        yield "/" + text
        return
    for place in places:
        yield resolved(text, place) or resolved(text, "/")


def _operands(call: Call) -> list[Field] | None:
    """Return the words that are no options; None if an option is not known to be harmless."""
    known, found, over, takes = set(WRITERS.get(call.name, "")), list[Field](), False, False
    for field in call.rest:
        text = field.text
        if takes:
            takes = False
        elif over or not text.startswith("-") or text == "-":
            found.append(field)
        elif text == "--":
            over = True
        elif text.startswith("--"):
            if text.partition("=")[0] not in WRITER_WORDS:
                return None
        elif call.name == "chmod" and _MODE_OPTION.fullmatch(text):
            continue
        elif call.name in {"truncate", "install", "split"} and text in {
            "-s",
            "-m",
            "-l",
            "-b",
            "-n",
            "-o",
            "-g",
        }:
            takes = True
        elif not set(text[1:]) <= known:
            return None
    return found


def _hardened(call: Call, found: Finding, targets: Sequence[Field]) -> Finding:
    """Return a denial if something outside is deleted with its whole content, or its permissions are changed."""
    if found.decision is PermissionDecision.DENY or not _sweeps(call):
        return found
    for field in targets:
        if field.option or not field.known or not MARKS.isdisjoint(field.text):
            continue
        if field.tilde or any(
            path and not granted(call.case, path) and path not in call.case.workplace.temporary
            for path in call.paths(field.text)
        ):
            verb = "deletes" if call.name == "rm" else "changes the permissions of"
            return call.deny(f"{verb} what is not the run's")
    return found


def _sweeps(call: Call) -> bool:
    if call.name == "rm":
        return any(re.match(r"-[A-Za-z]*[rR]|--r", text) for text in call.texts)
    return call.name in {"chmod", "chown"}
