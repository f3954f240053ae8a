"""Parses compound commands: groups, conditions, loops, choices, functions."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import Final

from orchestrator.formats.shell.source import Doubt
from orchestrator.formats.shell.tree import (
    Arithmetic,
    Block,
    Case,
    Command,
    Count,
    For,
    Function,
    If,
    Node,
    Script,
    Test,
    While,
    Word,
)
from orchestrator.formats.shell.words import WordReader

_OPENING: Final = re.compile(r"(?:\{|if|while|until|for|case|function|select|coproc|\[\[)(?=[\s;|&()<>]|$)")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FIRST: Final = re.compile(r"[^\s()<>&|]*")
_SAFE_COUNT: Final = re.compile(r"[^&|<>]*(?:[<>]=?[ \t]*[A-Za-z0-9_][^&|<>/]*)?")
"""Arithmetic that is harmless in dash too, which runs it as a command: it is only one, and writes no file elsewhere."""


@dataclass(slots=True)
class CompoundReader(WordReader):
    """Parses compound commands. `closed_by_bracket`: a `)` ends the current script."""

    closed_by_bracket: bool = False

    @abstractmethod
    def script(self) -> Script:
        """Parse the chains up to the end of this script; its closing sign is left unread. Raises Doubt."""

    @abstractmethod
    def separators(self) -> None:
        """Skip blanks and line ends. Raises Doubt."""

    @abstractmethod
    def body(self) -> Node:
        """Parse the body of a function. Raises Doubt."""

    def compound(self) -> Command | None:
        """Parse the compound command that begins here; None if there is none. Raises Doubt."""
        if self.starts("(("):
            return self._count()
        if self.take("("):
            return Block(self.script_until_closed(), apart=True)
        found = _OPENING.match(self.text, self.at)
        if not found:
            return None
        self.at = found.end()
        match found[0]:
            case "{":
                return Block(self._until("}"), apart=False)
            case "if":
                return self._if()
            case "while" | "until":
                return self._while(until=found[0] == "until")
            case "for":
                return self._for()
            case "case":
                return self._case()
            case "function":
                return self._function_by_keyword()
            case "[[":
                return self._test()
            case other:
                raise Doubt(f"has the shell's own `{other}`")

    def _reserved(self, word: str) -> bool:
        """Skip a reserved word if it comes next; return whether it did."""
        self.separators()
        end = self.at + len(word)
        if self.text.startswith(word, self.at) and (
            end >= len(self.text) or self.text[end] in " \t\n;|&()<>"
        ):
            self.at = end
            return True
        return False

    def _until(self, *words: str) -> Script:
        """Return the script up to one of these reserved words, which is gone past. Raises Doubt."""
        script = self._ahead_of(*words)
        for word in words:
            self._reserved(word)
        return script

    def _ahead_of(self, *words: str) -> Script:
        """Return the script up to one of these reserved words, which is left to be read. Raises Doubt."""
        within, self.closed_by_bracket = self.closed_by_bracket, False
        script = self.script()
        self.closed_by_bracket = within
        at = self.at
        if not script.chains or not any(self._reserved(word) for word in words):
            raise Doubt(f"has something that no `{words[0]}` follows")
        self.at = at
        return script

    def _if(self) -> If:
        clauses = list[tuple[Script, Script]]()
        while True:
            condition = self._until("then")
            clauses.append((condition, self._ahead_of("elif", "else", "fi")))
            if self._reserved("elif"):
                continue
            if self._reserved("else"):
                clauses.append((Script(), self._until("fi")))
                return If(tuple(clauses))
            self._reserved("fi")
            return If(tuple(clauses))

    def _while(self, *, until: bool) -> While:
        condition = self._until("do")
        return While(condition, self._until("done"), until)

    def _for(self) -> For:
        self.blank()
        found = _IDENTIFIER.match(self.text, self.at)
        if not found:
            raise Doubt("has a `for` that shells do not read alike")
        self.at = found.end()
        words: list[Word] | None = None
        self.separators()
        if self._reserved("in"):
            words = []
            self.blank()
            while self.at < len(self.text) and self.ahead() not in {"\n", ";"}:
                if self.ahead() in {"|", "&", "<", ">", "(", ")"}:
                    raise Doubt("has a `for` that shells do not read alike")
                words.append(self.word())
                self.blank()
        if self.starts(";") and not self.starts(";;"):
            self.at += 1
        if not self._reserved("do"):
            raise Doubt("has a `for` that shells do not read alike")
        return For(found[0], None if words is None else tuple(words), self._until("done"))

    def _case(self) -> Case:
        self.blank()
        word = self.word()
        if not self._reserved("in"):
            raise Doubt("has a `case` without its `in`")
        clauses = list[tuple[tuple[Word, ...], Script]]()
        while not self._reserved("esac"):
            clauses.append(self._clause())
        return Case(word, tuple(clauses))

    def _clause(self) -> tuple[tuple[Word, ...], Script]:
        if not self.take("(") and self.closed_by_bracket:
            raise Doubt("has a `case` within a `$(…)`, which older shells do not read alike")
        patterns = list[Word]()
        while True:
            self.blank()
            if self.at >= len(self.text) or self.ahead() in "\n;|&<>()":
                raise Doubt("has a `case` that cannot be read with certainty")
            patterns.append(self.word())
            self.blank()
            if self.take(")"):
                break
            if not self.take("|"):
                raise Doubt("has a `case` that cannot be read with certainty")
        within, self.closed_by_bracket = self.closed_by_bracket, False
        script = self.script()
        self.closed_by_bracket = within
        if self.starts(";&", ";;&"):
            raise Doubt("has a `case` that goes on with its next pattern")
        if not self.take(";;"):
            at = self.at
            if not self._reserved("esac"):
                raise Doubt("has a `case` without its `esac`")
            self.at = at
        return tuple(patterns), script

    def _function_by_keyword(self) -> Function:
        self.blank()
        found = _IDENTIFIER.match(self.text, self.at)
        if not found:
            raise Doubt("defines a function in a way that cannot be read with certainty")
        self.at = found.end()
        self.blank()
        if self.take("("):
            self.blank()
            if not self.take(")"):
                raise Doubt("defines a function in a way that cannot be read with certainty")
        self.separators()
        return Function(found[0], self.body(), keyword=True)

    def _test(self) -> Test:
        conditions = list[list[Word]]([[]])
        while True:
            self.blank()
            if self.starts("]]") and (self.at + 2 >= len(self.text) or self.text[self.at + 2] in " \t\n;|&)"):
                self.at += 2
                break
            if self.starts("&&", "||"):
                self.at += 2
                conditions.append([])
            elif self.starts("=~") and self.text[self.at + 2 : self.at + 3] in {" ", "\t"}:
                self.at += 2
                self.blank()
                conditions[-1].append(self.pattern())
            elif self.at >= len(self.text) or self.ahead() in "\n;|&<>()":
                raise Doubt("has a `[[` that shells do not read alike")
            else:
                conditions[-1].append(self.word())
        if not all(conditions):
            raise Doubt("has a `[[` that shells do not read alike")
        return Test(tuple(map(tuple, conditions)))

    def _count(self) -> Count:
        value, written = self.count()
        first = _FIRST.match(written.strip("( \t"))
        if not _SAFE_COUNT.fullmatch(written) or first is None:
            raise Doubt("has a `((` that shells do not read alike")
        return Count(Arithmetic(value.names, value.parts, quoted=True), first[0])
