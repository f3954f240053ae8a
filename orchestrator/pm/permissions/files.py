"""Programs that read or write the files that they are given by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from orchestrator.formats.shell_words import Word
from orchestrator.model.permission import Act, Ruling
from orchestrator.pm.permissions.defaults import PATTERN_FIRST, WRITER_WORDS, WRITERS
from orchestrator.pm.permissions.finding import Case, Finding, built_in, shown, strictest
from orchestrator.pm.permissions.paths import inside, judged_path, resolved

_MODE: Final = re.compile(r"0?[0-7]{3}|(?:[ugoa]*[-+=][rwxX]*)(?:,[ugoa]*[-+=][rwxX]*)*")
_LONGEST_PATH: Final = 4096
_HOME: Final = re.compile(r"/(?:~[^/]*/*|(?:home|Users)(?:/[^/]+)?/?|root/?)?")
_BETWEEN: Final = re.compile(r"[=:,]")
_HIDDEN_BY_GLOB: Final = re.compile(
    r"(?:^|[/=:])\.[^/]*[*?\[]|[*?\[][^/]*(?:env|rsa|25519|cred)|(?:env|rsa|25519|cred)[^/]*[*?\[]|^/proc.*[*?\[]"
)


def reading(case: Case, name: str, words: Sequence[Word], places: frozenset[str]) -> Finding:
    """Return what is found of a program that reads whatever files its words name."""
    told = shown(" ".join(word.text for word in words))
    findings = [built_in(Ruling.ALLOW, f"{told} only reads")]
    if name in {"grep", "egrep", "fgrep", "rg", "diff"} and any(_is_home(word, places) for word in words[1:]):
        findings.append(case.doubt(f"{told} reads a whole home"))
    skip = name in PATTERN_FIRST and not any(
        word.text.startswith(("-e", "--regexp", "--file")) or re.match(r"-[A-Za-z]*[ef]", word.text)
        for word in words
    )
    for word in words[1:]:
        if skip and not word.text.startswith("-"):
            skip = False
            continue
        findings += [read_word(case, word, places)]
    return strictest(findings)


def read_word(case: Case, word: Word, places: Iterable[str]) -> Finding:
    """Return what is found of reading what one word may name: each part of it is taken for a path."""
    if not word.certain:
        return case.doubt(f"what {shown(word.text)} stands for is not known")
    if len(word.text) > _LONGEST_PATH:
        return case.doubt(f"{shown(word.text)} is too long for a path")
    if word.glob and _HIDDEN_BY_GLOB.search(word.text.casefold()):
        return case.doubt(f"{shown(word.text)} may name files that hold secrets")
    if word.tilde and (case.rules(Act.READ, Ruling.DENY) or case.rules(Act.READ, Ruling.ASK)):
        findings = [case.doubt(f"whose home {shown(word.text)} begins with is not known")]
    else:
        findings = [built_in(Ruling.ALLOW, "it names no file")]
    findings += [
        judged_path(case, Act.READ, path, granted=inside(path, case.grants))
        for part in dict.fromkeys([word.text, *_BETWEEN.split(word.text)])
        if part and not part.startswith("--")
        for path in _all_paths(part, places)
    ]
    return strictest(findings)


def writing(case: Case, name: str, words: Sequence[Word], places: frozenset[str]) -> Finding:
    """Return what is found of a program that writes, moves or deletes the files that its words name."""
    operands = _operands(name, words[1:])
    told = shown(" ".join(word.text for word in words))
    if name == "chown":
        outside = [word for word in words[2:] if not word.text.startswith("-")]
        found = strictest([case.otherwise(told), *(_written(case, word, places) for word in outside)])
        return _hardened(case, name, words, found, outside, places)
    if operands is None:
        return _hardened(
            case,
            name,
            words,
            case.doubt(f"{told} has options of which there is no default"),
            words[1:],
            places,
        )
    if name == "chmod":
        if not operands or not _MODE.fullmatch(operands[0].text):
            return _hardened(
                case, name, words, case.doubt(f"{told} gives rights of an unknown kind"), operands[1:], places
            )
        operands = operands[1:]
    moved = operands if name in {"cp", "mv"} else []
    read, operands = (operands[:-1], operands[-1:]) if name == "cp" else ([], operands)
    if not operands and name != "tee":
        return case.doubt(f"{told} names no files")
    findings = [built_in(Ruling.ALLOW, f"{told} writes where the run may write")]
    findings += [read_word(case, word, places) for word in read]
    findings += [_written(case, word, places, root=name in {"rm", "mv", "rmdir"}) for word in operands]
    findings += [_written(case, _beside(each, moved[-1]), places) for each in moved[:-1]]
    if name == "cp" and len(words) - len(moved) > 1 and any(_is_home(word, places) for word in read):
        findings.append(case.doubt(f"{told} reads a whole home"))
    return _hardened(case, name, words, strictest(findings), operands, places)


def write_target(case: Case, word: Word, places: frozenset[str]) -> Finding:
    """Return what is found of a redirection to a file."""
    return _written(case, word, places)


def _beside(source: Word, folder: Word) -> Word:
    """Return the file that a source becomes, if what it is copied to is a folder."""
    name = source.text.rstrip("/").rpartition("/")[2]
    return replace(folder, text=f"{folder.text}/{name if name not in {'.', '..'} else ''}", glob=False)


def _is_home(word: Word, places: Iterable[str]) -> bool:
    return any(_HOME.fullmatch(path) is not None for path in _all_paths(word.text, places))


def _written(case: Case, word: Word, places: frozenset[str], *, root: bool = False) -> Finding:
    if (
        not word.certain
        or len(word.text) > _LONGEST_PATH
        or (word.glob and any(part.startswith(".") for part in word.text.split("/")))
    ):
        return case.doubt(f"which file {shown(word.text)} names is not known")
    if word.tilde:
        return strictest(
            [judged_path(case, Act.WRITE, path, granted=False) for path in _all_paths(word.text, places)]
        )
    findings = list[Finding]()
    for place in places:
        path = resolved(word.text, place)
        if not path:
            return case.doubt(f"in which folder {shown(word.text)} lies is not known")
        if root and path in case.grants:
            return case.doubt(f"{shown(word.text)} is the whole of a folder that the run was granted")
        findings.append(judged_path(case, Act.WRITE, path, granted=inside(path, case.grants)))
    return strictest(findings)


def _all_paths(text: str, places: Iterable[str]) -> Iterator[str]:
    """Return the paths that a text may mean. A home is not known here: it stands for itself."""
    if text.startswith("~"):
        yield "/" + text
        return
    for place in places:
        yield resolved(text, place) or resolved(text, "/")


def _operands(name: str, words: Sequence[Word]) -> list[Word] | None:
    """Return what is no option; None if an option is not known to be harmless."""
    known, found, over = set(WRITERS.get(name, "")), list[Word](), False
    for word in words:
        if over or not word.text.startswith("-") or word.text == "-":
            found.append(word)
        elif word.text == "--":
            over = True
        elif word.text.startswith("--"):
            if word.text not in WRITER_WORDS:
                return None
        elif not set(word.text[1:]) <= known:
            return None
    return found


def _hardened(
    case: Case,
    name: str,
    words: Sequence[Word],
    found: Finding,
    targets: Sequence[Word],
    places: frozenset[str],
) -> Finding:
    """Return a denial where something outside is deleted with all that it holds, or its rights are changed."""
    if found.ruling is Ruling.DENY or not _sweeps(name, words):
        return found
    for word in targets:
        if word.text.startswith("-") or not word.certain:
            continue
        paths = [resolved(word.text, place) for place in places]
        if word.tilde or any(path and not inside(path, case.grants) for path in paths):
            told = "deletes" if name == "rm" else "changes the rights of"
            return built_in(
                Ruling.DENY, f"{shown(' '.join(each.text for each in words))} {told} what is not the run's"
            )
    return found


def _sweeps(name: str, words: Sequence[Word]) -> bool:
    if name == "rm":
        return any(re.match(r"-[A-Za-z]*[rR]|--r", word.text) for word in words[1:])
    return name in {"chmod", "chown"}
