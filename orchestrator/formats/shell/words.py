"""Reading the words of a shell's line: quotes, and where a part of a word is expanded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from orchestrator.formats.shell.expansions import ExpansionReader
from orchestrator.formats.shell.source import Doubt
from orchestrator.formats.shell.tree import Escaped, Part, Process, Text, Word

ENDS: Final = frozenset(" \t\n;|&<>()")
"""An unquoted one ends a word."""

_PLAIN: Final = re.compile(r"[^ \t\n;|&<>()'\"\\$`]+")
_IN_DOUBLE: Final = re.compile(r'[^"`$\\]+')
_IN_HERE: Final = re.compile(r"[^`$\\]+")
_EMPTY: Final = re.compile(r"\([ \t]*\)")
"""What follows the name of a function that is defined."""

_PATTERN: Final = re.compile(r"[^\s'\"\\$`;&<>]+")
_ESCAPES: Final = frozenset('$`"\\\n')


@dataclass(slots=True)
class WordReader(ExpansionReader):
    """Reads one word at a time."""

    def word(self) -> Word:
        """Return the word that begins here. Raises Doubt."""
        self.counted()
        parts = list[Part]()
        while self.at < len(self.text) and self.text[self.at] not in ENDS:
            self._part(parts)
        if self.starts("(") and parts and not _EMPTY.match(self.text, self.at):
            raise Doubt("has a `(` within a word")
        return Word(_merged(parts))

    def here_text(self) -> Word:
        """Return the whole text as that of a here-document in which the shell expands. Raises Doubt."""
        parts = list[Part]()
        while self.at < len(self.text):
            self._run(_IN_HERE, parts)
            self._live(parts, frozenset("$`\\\n"))
        return Word(_merged(parts))

    def pattern(self) -> Word:
        """Return the regular expression behind `=~`, in which parentheses part nothing. Raises Doubt."""
        self.counted()
        parts, depth = list[Part](), 0
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign in " \t\n" and not depth:
                break
            found = _PATTERN.match(self.text, self.at)
            if found:
                depth += found[0].count("(") - found[0].count(")")
                parts.append(Text(found[0]))
                self.at = found.end()
            elif sign in "'\"\\$":
                self._part(parts)
            else:
                raise Doubt("has a regular expression that cannot be read")
        if depth:
            raise Doubt("has a `(` within a word")
        return Word(_merged(parts))

    def process(self) -> Word:
        """Return the word that a `<(…)` or `>(…)` is, which begins here. Raises Doubt."""
        self.counted()
        self.at += 2
        part = Process(self.script_until_closed())
        if self.at < len(self.text) and self.text[self.at] not in ENDS:
            raise Doubt("goes on after a `)`")
        return Word((part,))

    def _part(self, parts: list[Part]) -> None:
        match self.text[self.at]:
            case "'":
                end = self.text.find("'", self.at + 1)
                if end < 0:
                    raise Doubt("has a quote that is not closed")
                parts.append(Text(self.text[self.at + 1 : end], quoted=True))
                self.at = end + 1
            case '"':
                self._double(parts)
            case "\\":
                self._escaped(parts)
            case "$":
                self._dollar(parts)
            case "`":
                parts.append(self.backquoted(quoted=False))
            case _:
                self._run(_PLAIN, parts, quoted=False)

    def _run(self, kind: re.Pattern[str], parts: list[Part], *, quoted: bool = True) -> None:
        found = kind.match(self.text, self.at)
        if found:
            parts.append(Text(found[0], quoted=quoted))
            self.at = found.end()

    def _escaped(self, parts: list[Part]) -> None:
        """Read a backslash outside quotes."""
        if self.at + 1 >= len(self.text):
            raise Doubt("ends in a backslash")
        sign = self.text[self.at + 1]
        if sign != "\n":
            parts.append(Text(sign, quoted=True))
        self.at += 2

    def _dollar(self, parts: list[Part]) -> None:
        """Read a `$` outside quotes."""
        if self.ahead(2) == "$'":
            end = self.at + 2
            while end < len(self.text) and self.text[end] != "'":
                end += 2 if self.text[end] == "\\" else 1
            if end >= len(self.text):
                raise Doubt("has a quote that is not closed")
            parts.append(Escaped(self.text[self.at + 2 : end]))
            self.at = end + 1
        elif self.ahead(2) == '$"':
            raise Doubt('has a `$"`, which shells do not read alike')
        else:
            parts.append(self.expansion(quoted=False))

    def _double(self, parts: list[Part]) -> None:
        self.at += 1
        parts.append(Text("", quoted=True))
        while not self.take('"'):
            if self.at >= len(self.text):
                raise Doubt("has a quote that is not closed")
            self._run(_IN_DOUBLE, parts)
            self._live(parts, _ESCAPES)

    def _live(self, parts: list[Part], escapes: frozenset[str]) -> None:
        """Read one thing that is special also within double quotes, if one comes next."""
        match self.ahead():
            case "$":
                parts.append(self.expansion(quoted=True))
            case "`":
                parts.append(self.backquoted(quoted=True))
            case "\\":
                sign = self.text[self.at + 1 : self.at + 2]
                if sign in escapes:
                    parts.append(Text(sign.replace("\n", ""), quoted=True))
                    self.at += 2
                else:
                    parts.append(Text("\\", quoted=True))
                    self.at += 1
            case _:
                pass


def _merged(parts: list[Part]) -> tuple[Part, ...]:
    """Return parts with texts of one kind that follow each other made one."""
    found = list[Part]()
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, Text) and isinstance(last, Text) and part.quoted is last.quoted:
            found[-1] = Text(last.text + part.text, last.quoted)
        else:
            found.append(part)
    return tuple(found)
