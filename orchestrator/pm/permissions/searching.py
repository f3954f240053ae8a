"""What `find` does with which files: whether the files for an action were chosen by their names."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from orchestrator.pm.permissions.fields import ANY_FILE, ANYTHING, SOME_FILE, Field
from orchestrator.pm.permissions.listings import all_below, apart, apart_from_settings, hides

_DEEPEST: Final = 20
_LITERAL: Final = re.compile(r"[A-Za-z0-9_]{2}")
_NAMES: Final = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"})
_NOT: Final = frozenset({"!", "-not"})
_OR: Final = frozenset({"-o", "-or", ","})
RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_ENDS: Final = frozenset({";", "+"})
_LISTS: Final = ("-printf", "-fprint", "-ls", "-fls", *sorted(RUNS))
_FOLLOWS: Final = frozenset({"-L", "-follow"})
_PRINTS: Final = frozenset({"-print", "-print0"})


@dataclass(slots=True)
class Search:
    """The words after `find`, read from left to right as it does.

    `roots` are the starting folders. `chosen` says for each action, by the position of its word, whether it only gets
    files that were chosen by their names; `all_chosen` says the same of the files that pass all tests. `unsure`: it
    follows links, or looks for files that hold secrets.
    """

    words: tuple[Field, ...]
    roots: tuple[str, ...] = ()
    chosen: dict[int, bool] = field(default_factory=dict)
    all_chosen: bool = False
    unsure: bool = False
    _at: int = 0

    def path(self, *, chosen: bool) -> str:
        """Return the path of the files found, with marks; unknown if that cannot be determined."""
        if self.unsure:
            return ANYTHING
        if len(self.roots) > 1:
            return SOME_FILE if chosen and all_below(self.roots) else ANYTHING
        mark = SOME_FILE if chosen or apart(self.roots[0]) else ANY_FILE
        return f"{self.roots[0].rstrip('/')}/{mark}" if self.roots[0] != "/" else ANYTHING

    def begin(self) -> None:
        """Read all words."""
        texts = [each.text for each in self.words]
        while self._at < len(texts) and re.fullmatch(r"-[LHP]|-O[0-9]|--", texts[self._at]):
            self._at += 1
        roots = itertools.takewhile(lambda text: not text.startswith(("-", "(", "!")), texts[self._at :])
        self.roots = tuple(roots) or (".",)
        self._at += len(self.roots) if self._at < len(texts) and self.roots[0] == texts[self._at] else 0
        self.all_chosen = self._any(texts, chosen=False, depth=0) and self._at >= len(texts)
        follows = not _FOLLOWS.isdisjoint(texts)
        self.unsure = follows or any(not each.known for each in self.words) or hides(self._wanted())

    def _any(self, texts: Sequence[str], *, chosen: bool, depth: int) -> bool:
        """Read alternatives; return whether each passes only files that were chosen."""
        outcomes, now = list[bool](), chosen
        while self._at < len(texts) and texts[self._at] != ")":
            text = texts[self._at]
            if text in _OR:
                outcomes.append(now)
                now = chosen
                self._at += 1
            else:
                now = self._one(texts, chosen=now, depth=depth)
        return all((*outcomes, now))

    def _one(self, texts: Sequence[str], *, chosen: bool, depth: int) -> bool:
        """Read one test or action; return whether the files after it were chosen."""
        text = texts[self._at]
        self._at += 1
        if text in _NOT and self._at < len(texts):
            self._one(texts, chosen=chosen, depth=depth)
            return chosen
        if text == "(":
            if depth >= _DEEPEST:
                self._at = len(texts) + 1
                return False
            found = self._any(texts, chosen=chosen, depth=depth + 1)
            self._at += 1
            return found
        if text in _NAMES and self._at < len(texts):
            self._at += 1
            return chosen or _chooses(texts[self._at - 1])
        if text == "-delete" or text in _PRINTS or text.startswith(_LISTS):
            self.chosen[self._at - 1] = chosen
        if text in RUNS:
            while self._at < len(texts) and texts[self._at - 1] not in _ENDS:
                self._at += 1
        return chosen

    def _wanted(self) -> list[Field]:
        """Return the words that say what is searched for, without negated tests and without commands to run."""
        kept, at = list[Field](), 0
        while at < len(self.words):
            text = self.words[at].text
            if text in _NOT and at + 1 < len(self.words) and self.words[at + 1].text in _NAMES:
                at += 3
            elif text in RUNS:
                ends = (place for place in range(at, len(self.words)) if self.words[place].text in _ENDS)
                at = next(ends, len(self.words)) + 1
            else:
                kept.append(self.words[at])
                at += 1
        return kept


def search(words: Sequence[Field]) -> Search:
    """Return what is known of the words after `find`."""
    made = Search(tuple(words))
    made.begin()
    return made


def found_by(name: str, rest: Sequence[Field]) -> str:
    """Return what `find` or `fd` prints: paths below its starting folders."""
    texts = [each.text for each in rest]
    if name == "find":
        read = search(rest)
        lists = [texts[at] for at in read.chosen if texts[at].startswith(_LISTS)]
        prints = [chosen for at, chosen in read.chosen.items() if texts[at] in _PRINTS]
        return ANYTHING if lists else read.path(chosen=all(prints) if prints else read.all_chosen)
    if any(not each.known for each in rest) or hides(rest):
        return ANYTHING
    operands = [text for text in texts if not text.startswith("-")]
    runs = {"-x", "-X", "--exec", "--exec-batch", "-a", "-l"}
    far = any(text in runs or "/" in text for text in texts if text.startswith("-"))
    return SOME_FILE if all_below(operands) and not far else ANYTHING


def _chooses(pattern: str) -> bool:
    """Return whether a pattern of names excludes files that control git or an agent's program."""
    return _LITERAL.search(pattern) is not None and apart_from_settings([pattern])
