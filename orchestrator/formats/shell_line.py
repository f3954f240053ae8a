"""A shell's command line, split into simple commands where that can be done with certainty, else doubted.

Nothing is expanded and nothing is run. What bash, dash and zsh could read in two ways is a doubt, never a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from orchestrator.formats.shell_words import Doubt, Tokens, Word, tokens
from orchestrator.formats.text import names

LONGEST: Final = 100_000
MOST_WORDS: Final = 2000
MOST_COMMANDS: Final = 200

_COMPOUND: Final = names(
    "if then elif else fi for while until do done case esac in function select { } [[ ]] coproc foreach repeat end"
    " always nocorrect"
)
_OPENING: Final = frozenset({"<", "<>", "<<<", ">", ">>", ">|", "&>", "&>>", ">&", "<&"})
_DESCRIPTOR: Final = re.compile(r"[0-9]{1,3}-?|-")


@dataclass(frozen=True, slots=True)
class Redirect:
    """Where a command reads from or writes to, if that is a file."""

    writes: bool
    target: Word


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command. `stdin` is the text that it is given in the line itself, `then` the sign that ends it.

    `then` is `;` where it may say nothing of what follows: after a `!`, and within a pipe.
    """

    assignments: tuple[Word, ...] = ()
    words: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    stdin: str = ""
    then: str = ""


@dataclass(frozen=True, slots=True)
class ShellLine:
    """What a line would run. With a `doubt` it says in words why that is not certain, and `commands` is empty."""

    commands: tuple[Command, ...] = ()
    doubt: str = ""


def read_shell(text: str) -> ShellLine:
    """Return the simple commands of a line, or why it is in doubt. Never raises."""
    if len(text) > LONGEST:
        return ShellLine(doubt=f"is longer than {LONGEST} signs")
    try:
        commands = _Splitter(tokens(text)).commands()
    except Doubt as doubt:
        return ShellLine(doubt=str(doubt))
    if not commands:
        return ShellLine(doubt="holds no command")
    return ShellLine(commands)


@dataclass(slots=True)
class _Splitter:
    given: Tokens
    done: list[Command] = field(default_factory=list)
    assignments: list[Word] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    stdin: str = ""
    piped: bool = False
    negated: bool = False
    depth: int = 0
    closed: bool = False  # after `)` only a redirect may stand ahead of what parts commands

    def commands(self) -> tuple[Command, ...]:
        """Return all commands. Raises Doubt."""
        at = 0
        while at < len(self.given):
            token = self.given[at]
            at += 1
            if isinstance(token, Word):
                self._word(token)
            elif token.sign == "heredoc":
                self.stdin += token.text
            elif token.sign in _OPENING:
                following = self.given[at] if at < len(self.given) else None
                if not isinstance(following, Word):
                    raise Doubt("has a redirection to nowhere")
                self._redirect(token.sign, following)
                at += 1
            else:
                self._part(token.sign)
        self._finish("")
        if self.depth:
            raise Doubt("has a `(` that is not closed")
        return tuple(self.done)

    def _word(self, word: Word) -> None:
        if self.closed:
            raise Doubt("goes on after a `)`")
        if not self.words and word.assigns:
            self.assignments.append(word)
            return
        if not self.words and word.bare:
            if word.text in {"!", "time"} and not self.assignments:
                self.negated = self.negated or word.text == "!"
                return
            if word.text in _COMPOUND:
                raise Doubt(f"has the shell's own `{word.text}`")
        if not self.words and (
            not word.certain or word.glob or word.tilde or word.text[:1] in {"=", "-", ""}
        ):
            raise Doubt(f"does not say plainly which program it runs: {word.text[:40]!a}")
        if len(self.words) == MOST_WORDS:
            raise Doubt(f"has a command of more than {MOST_WORDS} words")
        self.words.append(word)

    def _redirect(self, sign: str, target: Word) -> None:
        if sign == "<<<":
            self.stdin += target.text
            if not target.certain:
                raise Doubt("hands on a text that is not known")
        elif not (sign in {">&", "<&"} and target.bare and _DESCRIPTOR.fullmatch(target.text)):
            self.redirects.append(Redirect(not sign.startswith("<") or sign == "<>", target))

    def _part(self, sign: str) -> None:
        match sign:
            case "(":
                if self.words or self.assignments or self.redirects or self.closed:
                    raise Doubt("has a `(` within a command")
                self.depth += 1
            case ")":
                self._finish(sign)
                self.depth -= 1
                self.closed = True
                if self.depth < 0:
                    raise Doubt("has a `)` too many")
            case _:
                self._finish(sign)
                self.closed = False

    def _finish(self, sign: str) -> None:
        if len(self.done) == MOST_COMMANDS:
            raise Doubt(f"holds more than {MOST_COMMANDS} commands")
        if self.words or self.assignments or self.redirects:
            self.done.append(
                Command(
                    tuple(self.assignments),
                    tuple(self.words),
                    tuple(self.redirects),
                    self.stdin,
                    ";" if self.piped or self.negated else sign,
                )
            )
        self.assignments, self.words, self.redirects, self.stdin = [], [], [], ""
        self.piped, self.negated = sign in {"|", "|&"}, False
