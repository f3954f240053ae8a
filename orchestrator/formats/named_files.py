"""Which files a success criterion names, and which of them it says to be there: `bye.py exists` needs bye.py (H10).

Nobody's language is judged here. A file is *stated* only by a sentence that consists of nothing but paths and the words
of such a statement; any other sentence that has a path in it *names* the file, as long as no word denies something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

MOST: Final = 8
"""Files that are taken from one criterion."""

LONGEST: Final = 1024
"""Characters of a criterion that are looked at."""

_ENDINGS: Final = frozenset(
    """
    adoc bat c cc cfg cjs cmake conf cpp cs css csv cxx erl ex exs fish go gradle h hpp hs htm html ini ipynb java jpeg
    jpg js json jsonl jsx kt kts lock lua md mdx mjs ml pdf php pl png properties proto ps1 py pyi rb rs rst scala scss
    sh sql svelte svg swift tex tf toml ts tsv tsx txt vue xml yaml yml zsh
    """.split()  # noqa: SIM905 (a table of words)
)
_PLAIN_NAMES: Final = frozenset({"Makefile", "Dockerfile", "LICENSE", "README", "CHANGELOG"})
_PRODUCT: Final = re.compile(r"[A-Z][A-Za-z0-9]*\.js")
"""`Node.js`, `Vue.js`: programs, and no files."""

_SPAN: Final = re.compile(r"`([^`]*)`|(\S+)")
_AROUND: Final = "'\"()[]{},;:!?*"
_PATH: Final = re.compile(r"(?:[\w@+.-]+/)*[\w@+.-]+")
_CLAUSES: Final = re.compile(
    r"[;\n]|[.!?]\s|,?\s(?:but|while|whereas)\s|,?\sand\s(?=\S+ (?:is|was|has|exists|does|no)\b)",
    re.IGNORECASE,
)
_DENIALS: Final = re.compile(
    r"\b(?:no|not|never|none|nothing|without|cannot|neither|nor|instead|except|missing|absent|gone|empty|old|obsolete|"
    r"remov\w*|delet\w*|drop\w*|renam\w*|mov\w*|replac\w*|exclud\w*|ignor\w*|untrack\w*|former\w*)\b|n['’]t\b",
    re.IGNORECASE,
)
_CONDITIONS: Final = re.compile(
    r"\b(?:if|when|unless|whether|or|either|until|once|after|before)\b", re.IGNORECASE
)
_FURTHER: Final = re.compile(
    r",|\s(?:that|which|with|containing|contains|holding|holds|so|for)\s.*|\sand\s(?!\0).*",
    re.IGNORECASE | re.DOTALL,
)
"""What a statement goes on with: `that explains it`, `and prints hello`. `\\0` stands for a path."""

_WORDS: Final = frozenset(
    """
    a an the there is are be been has have was were will must should shall and both new now also it this our its of in
    at on under to file files module script page document program folder directory branch project repository repo root
    named called exist exists existing created added present create add adds place available committed
    """.split()  # noqa: SIM905 (a table of words)
)
_EXISTENCE: Final = re.compile(
    r"\b(?:exists?|existing|created?|adds?|added|present|available|committed|in place|there (?:is|are))\b"
)
_INTO: Final = re.compile(r"\badds?\b.*\0.*\bto\b|\badded to\b|\b(?:exists?|present|available) in \0")
"""`add x.zip to .gitignore` says where a line goes."""


def files_named(criterion: str) -> tuple[str, ...]:
    """Return the paths that a criterion names, without those of a clause that denies something, in their order."""
    found = {path: None for paths, _ in _clauses(criterion) for path in paths}
    return tuple(found)[:MOST]


def files_stated(criterion: str) -> tuple[str, ...]:
    """Return those of `files_named` of which the criterion says nothing but that they are there."""
    named, found = files_named(criterion), set[str]()
    for paths, text in _clauses(criterion):
        said = _FURTHER.sub("", f" {text} ".lower()).strip()
        states = _EXISTENCE.search(said) and not (_CONDITIONS.search(text) or _INTO.search(said))
        if states and _WORDS.issuperset(said.replace("\0", " ").split()):
            found |= set(paths[: said.count("\0")])
    return tuple(path for path in named if path in found)


def named_among(names: Sequence[str], paths: Iterable[str]) -> tuple[str, ...]:
    """Return those of these names that are one of the paths, a folder of one, or the end of either.

    Large and small letters are the same here: whoever names a file in a sentence may not be exact.
    """
    wanted = {name: f"/{name.casefold().strip('/')}/" for name in names}
    found = set[str]()
    for path in paths:
        if len(found) == len(wanted):
            break
        there = f"/{path.casefold()}/"
        found |= {name for name, named in wanted.items() if named in there}
    return tuple(name for name in names if name in found)


def _clauses(criterion: str) -> Iterator[tuple[list[str], str]]:
    r"""Yield the paths of each clause that denies nothing, and the clause with `\0` for each of them."""
    for clause in _CLAUSES.split(criterion[:LONGEST]):
        words = list(_paths(clause.rstrip(" .")))
        text = " ".join(said for _, said in words)
        if not _DENIALS.search(text):
            yield [path for path, _ in words if path], text


def _paths(clause: str) -> Iterator[tuple[str, str]]:
    """Yield each word of a clause as the path that it is, or none, and the text that stands for it."""
    for span in _SPAN.finditer(clause):
        if span[1] is not None and " " not in span[1].strip():
            path = _path(span[1].strip(), marked=True)
            yield path, "\0" if path else span[0]
            continue
        for word in (span[1] or span[2]).split():
            plain = word.strip(_AROUND + "`").rstrip(".")
            path = _path(plain, marked=False)
            comma = "," if word.endswith(",") and not path else ""
            inside = f"{(path and chr(0)) or plain}{comma}"
            yield path, f"`{inside}`" if span[1] is not None else inside  # a command states nothing


def _path(text: str, *, marked: bool) -> str:
    """Return the path beneath the project that a word is; empty if it is none. `marked`: it stands in backquotes."""
    if "://" in text or not _PATH.fullmatch(text) or ".." in text.split("/"):
        return ""
    path = text.removeprefix("./")
    name = path.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    if path in _PLAIN_NAMES or (stem and ending.lower() in _ENDINGS):
        return "" if not marked and _PRODUCT.fullmatch(text) else path
    return path if marked and name.startswith(".") and name.strip(".") else ""
