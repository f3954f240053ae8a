"""What words expand to, as far as a script itself shows: variables, braces, homes, the output of other commands."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from orchestrator.formats.shell.tree import (
    Arithmetic,
    Escaped,
    Parameter,
    Part,
    Process,
    Script,
    Substitution,
    Text,
    Word,
)
from orchestrator.model.tool_request import Workplace
from orchestrator.pm.permissions.braces import braced
from orchestrator.pm.permissions.fields import ANYTHING, FILES, MARKS, OWN_PROCESS, SAME_PATH, TOKEN, Field
from orchestrator.pm.permissions.parameters import applied
from orchestrator.pm.permissions.scope import Scope, Value

MOST_CHOICES: Final = 24
_GLOB: Final = frozenset("*?[")
_NUMBERS: Final = frozenset(
    {"#", "?", "$", "RANDOM", "SECONDS", "EPOCHSECONDS", "UID", "EUID", "PPID", "LINENO"}
)
_ARGUMENTS: Final = frozenset({"@", "*"})

Outputs = Callable[[Script, Scope], tuple[str, ...]]
"""What a script may print: texts with marks, of which one is right."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Part of a word: its text, and whether the shell expands patterns in it, and splits it at spaces."""

    text: str
    globs: bool = False
    splits: bool = False


@dataclass(frozen=True, slots=True)
class Expander:
    """Expands words. `outputs` returns what a script prints."""

    workplace: Workplace
    outputs: Outputs

    def choices(self, words: Sequence[Word], scope: Scope) -> list[tuple[Field, ...]]:
        """Return the possible expansions of words; if there are too many, uncertain words become marks for anything."""
        return self.choices_of([self.word(word, scope) for word in words])

    def choices_of(self, found: list[list[tuple[Field, ...]]]) -> list[tuple[Field, ...]]:
        """Return the combinations of the possible expansions of each word."""
        while _count(found) > MOST_CHOICES:
            widest = max(range(len(found)), key=lambda at: len(found[at]))
            found[widest] = [(Field(ANYTHING, many=True),)]
        return [tuple(itertools.chain.from_iterable(each)) for each in itertools.product(*found)]

    def word(self, word: Word, scope: Scope) -> list[tuple[Field, ...]]:
        """Return the possible expansions of one word, each of them some words. There is at least one."""
        if arguments := self._all_of(word, scope):
            return arguments
        words = braced(word)
        if words == (word,):
            return self._plain(word, scope)
        if words is None:
            return [(Field(ANYTHING, many=True),)]
        apart = self.choices_of([self._plain(each, scope) for each in words])
        return list(dict.fromkeys([*apart, *self._plain(word, scope)]))

    def _plain(self, word: Word, scope: Scope) -> list[tuple[Field, ...]]:
        """Return the possible expansions of a word without braces."""
        ways = [self._pieces(part, scope, first=not at) for at, part in enumerate(word.parts)]
        if _count(ways) > MOST_CHOICES:
            return [(Field(ANYTHING, many=not all(part.quoted for part in word.parts)),)]
        bare = not any(part.quoted for part in word.parts)
        tilde = self._tilde(word)
        found = list[tuple[Field, ...]]()
        for way in itertools.product(*ways):
            found += _fields(way, bare=bare, tilde=tilde, splits=scope.splits)
        return list(dict.fromkeys(found)) or [(Field("", bare=False),)]

    def texts(self, word: Word, scope: Scope) -> tuple[str, ...]:
        """Return the possible texts of a word where the shell does not split it, as after `name=`."""
        ways = [self._pieces(part, scope, first=not at) for at, part in enumerate(word.parts)]
        if _count(ways) > MOST_CHOICES or self._tilde(word):
            return (ANYTHING,)
        return tuple(dict.fromkeys("".join(piece.text for piece in way) for way in itertools.product(*ways)))

    def values(self, name: str, scope: Scope) -> tuple[str, ...]:
        """Return the possible values of a variable or argument."""
        if name.isdecimal() and scope.arguments is not None and name != "0":
            at = int(name) - 1
            return (scope.arguments[at].text,) if at < len(scope.arguments) else ("",)
        if name in scope.values:
            value = scope.values[name]
            return value.texts if value.members is None else (ANYTHING,)
        if name == "!":
            return (ANYTHING,)
        if name in _NUMBERS:
            return (TOKEN,)
        if name == "PWD":
            return tuple(place or ANYTHING for place in sorted(scope.places))
        if name == "PATH":
            return (SAME_PATH,)
        if name == "HOME" and self.workplace.home:
            return (self.workplace.home,)
        return next(((value,) for known, value in self.workplace.variables if known == name), (ANYTHING,))

    # -------------------------------------------------------------------------------------------------

    def _all_of(self, word: Word, scope: Scope) -> list[tuple[Field, ...]]:
        """Return the words that `"$@"` or `"${array[@]}"` stands for, if it is the whole word and is known."""
        if len(word.parts) not in {1, 2} or not isinstance(word.parts[-1], Parameter):
            return []
        part = word.parts[-1]
        if len(word.parts) == 2 and word.parts[0] != Text("", quoted=True):  # noqa: PLR2004 (an empty text and it)
            return []
        if part.name in _ARGUMENTS and not part.operator and scope.arguments is not None:
            return [tuple(replace(each, glob=not part.quoted) for each in scope.arguments)]
        value = scope.values.get(part.name)
        if value is not None and value.members is not None and part.operator in {"[@]", "[*]"}:
            return [value.members]
        return []

    def _tilde(self, word: Word) -> bool:
        """Return whether a word begins with a home that is not known."""
        first = word.parts[0] if word.parts else None
        if not isinstance(first, Text) or first.quoted or not first.text.startswith("~"):
            return False
        return not self.workplace.home or re.match(r"~(?:/|$)", first.text) is None

    def _pieces(self, part: Part, scope: Scope, *, first: bool) -> list[_Piece]:
        match part:
            case Text():
                text = part.text
                if first and not part.quoted and self.workplace.home and re.match(r"~(?:/|$)", text):
                    text = self.workplace.home + text[1:]
                return [_Piece(text, globs=not part.quoted)]
            case Parameter():
                live = not part.quoted
                return [_Piece(text, live, live) for text in self._parameter(part, scope)]
            case Substitution():
                live = not part.quoted
                return [_Piece(text, live, live) for text in self.outputs(part.script, scope)]
            case Arithmetic():
                return [_Piece(TOKEN)]
            case Process():
                return [_Piece(f"/dev/fd/{TOKEN}")]
            case Escaped():
                return [_Piece(ANYTHING)]

    def _parameter(self, part: Parameter, scope: Scope) -> tuple[str, ...]:
        if part.vague:
            return (ANYTHING,)
        if part.operator == "length":
            return (TOKEN,)
        value = scope.values.get(part.name)
        if value is not None and value.members is not None:
            known = part.operator.strip("[]").isdecimal() and int(part.operator.strip("[]")) < len(
                value.members
            )
            return (value.members[int(part.operator.strip("[]"))].text,) if known else (ANYTHING,)
        if part.operator.startswith("["):
            return (ANYTHING,)
        values = self.values(part.name, scope)
        if not part.operator:
            return values
        operands = self.texts(Word(part.operand), scope)
        found = [applied(part.operator, each, operand) for each in values for operand in operands]
        return tuple(dict.fromkeys(itertools.chain.from_iterable(found)))


def members(expander: Expander, words: Sequence[Word], scope: Scope) -> Value:
    """Return the array that words make."""
    choices = expander.choices(words, scope)
    return Value(members=choices[0]) if len(choices) == 1 else Value((ANYTHING,))


def started(scope: Scope) -> Scope:
    """Return the scope after a command was started in the background."""
    made = scope.copy()
    made.values["!"] = Value((OWN_PROCESS,))
    return made


def _count(ways: Sequence[Sequence[object]]) -> int:
    count = 1
    for each in ways:
        count *= len(each)
    return count


def _fields(way: Sequence[_Piece], *, bare: bool, tilde: bool, splits: bool) -> Iterator[tuple[Field, ...]]:
    """Yield the words that pieces become. `splits`: at spaces, as a shell does by default."""
    parted = [piece for piece in way if piece.splits]
    glob = any(piece.globs and not _GLOB.isdisjoint(piece.text) for piece in way)
    text = "".join(piece.text for piece in way)
    many = any(not (FILES | {ANYTHING}).isdisjoint(piece.text) for piece in parted)
    if not text and parted:
        yield ()
    elif not splits and any(len(piece.text) > 1 and MARKS.isdisjoint(piece.text) for piece in parted):
        yield (Field(ANYTHING, many=True),)
    elif not any(re.search(r"\s", piece.text) for piece in parted):
        yield (Field(text, glob and text not in {"[", "]"}, tilde, many, bare),)
    elif len(way) == 1:
        yield tuple(Field(each, not _GLOB.isdisjoint(each), many=many) for each in text.split())
    else:
        yield (Field(ANYTHING, many=True),)
