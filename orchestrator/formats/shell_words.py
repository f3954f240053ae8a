"""The words and signs of a shell's line, quotes taken off; what is not certain raises Doubt."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_SPACE: Final = " \t"
_ENDS: Final = frozenset(" \t\n;|&<>()")
_SIGNS: Final = re.compile(r"&&|\|\||\|&|&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|;|\||<|>|\(|\)")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?")
_VARIABLE: Final = re.compile(r"\$(?:\{[A-Za-z0-9_@*#?!-]+\}|[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
_CAT: Final = re.compile(r"\$\(cat[ \t]+<<-?[ \t]*(['\"])([A-Za-z0-9_]+)\1[ \t]*\n")
_LIVE: Final = re.compile(r"[$`\\]")
_PLAIN: Final = re.compile(r"[^\x00-\x20\x7f;|&<>()'\"\\$`]+")
_IN_DOUBLE: Final = re.compile(r'[^"`$\\]+')
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_OF_ZSH: Final = frozenset("=^~+")
"""What may stand between `$` and a name in zsh."""

_GLOB: Final = frozenset("*?[")


class Doubt(Exception):
    """The line cannot be split with certainty; the message goes on from "it"."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word as a program would get it.

    `certain` is false where the shell would put something else in its place, `glob` where it might put names of files;
    `tilde`: it begins with a home. `bare`: no sign of it is quoted. `assigns`: it is `NAME=…` to the shell.
    """

    text: str
    certain: bool = True
    glob: bool = False
    tilde: bool = False
    bare: bool = True
    assigns: bool = False


@dataclass(frozen=True, slots=True)
class Op:
    """A sign that parts or redirects. Of a `heredoc`, `text` is what it holds."""

    sign: str
    text: str = ""


Tokens = list[Word | Op]


def tokens(text: str) -> Tokens:
    """Return the words and signs of a line. Raises Doubt."""
    return _Lexer(text).tokens()


@dataclass(slots=True)
class _Part:
    """The word that is being read."""

    pieces: list[str] = field(default_factory=list)
    certain: bool = True
    glob: bool = False
    bare: bool = True
    assigns: bool = False
    braces: str = ""  # the unquoted signs that could make a brace expansion


@dataclass(slots=True)
class _Lexer:
    text: str
    at: int = 0
    found: Tokens = field(default_factory=list)
    due: list[tuple[int, str, bool, bool]] = field(
        default_factory=list
    )  # heredocs whose text comes at the line's end

    def tokens(self) -> Tokens:
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign in _SPACE:
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif sign == "\n":
                self.at += 1
                self.found.append(Op("\n"))
                self._heredocs()
            elif sign == "#":
                end = self.text.find("\n", self.at)
                self.at = end if end >= 0 else len(self.text)
            elif sign in _ENDS:
                self._sign()
            else:
                self._word()
        if self.due:
            raise Doubt("has a heredoc without its text")
        return self.found

    def _sign(self) -> None:
        if self.text.startswith((";;", ";&", "<(", ">(", "((", "))"), self.at):
            raise Doubt(f"has a `{self.text[self.at : self.at + 2]}`")
        found = _SIGNS.match(self.text, self.at)
        if not found:
            raise Doubt("leaves something running in the background (`&`)")
        self.at = found.end()
        if found[0] in {"<<", "<<-"}:
            self._heredoc(tabs=found[0] == "<<-")
        else:
            self.found.append(Op(found[0]))

    def _heredoc(self, *, tabs: bool) -> None:
        while self.text[self.at : self.at + 1] in {" ", "\t"}:
            self.at += 1
        if self.at >= len(self.text) or self.text[self.at] in _ENDS:
            raise Doubt("has a heredoc without an end word")
        self._word()
        word = self.found.pop()
        if not isinstance(word, Word) or not word.certain or "\n" in word.text:
            raise Doubt("has a heredoc whose end is not certain")
        self.due.append((len(self.found), word.text, word.bare, tabs))
        self.found.append(Op("heredoc"))

    def _heredocs(self) -> None:
        """Read the texts of the heredocs of the line that just ended."""
        for place, end, live, tabs in self.due:
            body = list[str]()
            while True:
                if self.at >= len(self.text):
                    raise Doubt("has a heredoc that does not end")
                stop = self.text.find("\n", self.at)
                stop = stop if stop >= 0 else len(self.text)
                line = self.text[self.at : stop]
                self.at = min(stop + 1, len(self.text))
                if (line.lstrip("\t") if tabs else line) == end:
                    break
                body.append(line)
            told = "\n".join(body)
            if live and _LIVE.search(told):
                raise Doubt("has a heredoc in which the shell would replace something")
            self.found[place] = Op("heredoc", told)
        self.due.clear()

    def _word(self) -> None:
        begun, part = self.at, _Part()
        while self.at < len(self.text) and self.text[self.at] not in _ENDS:
            self._piece(part)
        text, then = "".join(part.pieces), self.text[self.at : self.at + 1]
        if part.bare and text.isdecimal() and then in {"<", ">"}:
            return  # the number of what is redirected
        if text[:1] == "{" and then in {"<", ">"}:
            raise Doubt("names what it redirects by a variable")
        braced = "{" in part.braces and ("," in part.braces or ".." in part.braces)
        self.found.append(
            Word(
                text,
                part.certain and not braced,
                part.glob and text not in {"[", "]"},
                self.text[begun] == "~",
                part.bare,
                part.assigns,
            )
        )

    def _piece(self, part: _Part) -> None:
        sign = self.text[self.at]
        if sign == "'":
            end = self.text.find("'", self.at + 1)
            if end < 0:
                raise Doubt("has a quote that is not closed")
            self._quoted(part, self.text[self.at + 1 : end], end + 1)
        elif sign == '"':
            self._double(part)
        elif sign == "\\":
            if self.at + 1 >= len(self.text):
                raise Doubt("ends in a backslash")
            self._quoted(part, self.text[self.at + 1].replace("\n", ""), self.at + 2)
        elif sign == "$":
            self._dollar(part, quoted=False)
        elif sign == "`":
            raise Doubt("runs something within (a backquote)")
        else:
            self._plain(part)

    def _plain(self, part: _Part) -> None:
        found = _PLAIN.match(self.text, self.at)
        if not found:
            raise Doubt("holds a control character")
        text = found[0]
        if "=" in text and part.bare and not part.pieces:
            part.assigns = _NAME.fullmatch(text.partition("=")[0]) is not None
        part.glob = part.glob or not _GLOB.isdisjoint(text)
        part.braces += "".join(sign for sign in text if sign in "{},.")
        part.pieces.append(text)
        self.at = found.end()

    def _quoted(self, part: _Part, text: str, then: int) -> None:
        """Add text that stands for itself."""
        if _CONTROL.search(text):
            raise Doubt("holds a control character")
        part.pieces.append(text)
        part.bare = False
        part.braces += " "
        self.at = then

    def _double(self, part: _Part) -> None:
        self.at += 1
        part.bare = False
        while True:
            run = _IN_DOUBLE.match(self.text, self.at)
            if run:
                self._quoted(part, run[0], run.end())
            sign = self.text[self.at : self.at + 1]
            if not sign:
                raise Doubt("has a quote that is not closed")
            if sign == '"':
                self.at += 1
                return
            if sign == "`":
                raise Doubt("runs something within (a backquote)")
            if sign == "$":
                self._dollar(part, quoted=True)
            elif self.text[self.at + 1 : self.at + 2] in {"$", "`", '"', "\\", "\n"}:
                self._quoted(part, self.text[self.at + 1].replace("\n", ""), self.at + 2)
            else:
                self._quoted(part, sign, self.at + 1)

    def _dollar(self, part: _Part, *, quoted: bool) -> None:
        found = _VARIABLE.match(self.text, self.at)
        if found:
            part.certain = False
            part.pieces.append(found[0])
            self.at = found.end()
            return
        following = self.text[self.at + 1 : self.at + 2]
        if quoted and following == "(" and (literal := _told_by_cat(self.text, self.at)):
            self._quoted(part, *literal)
            return
        if following in {"(", "{", "[", "\\"} or (following in {"'", '"'} and not quoted):
            raise Doubt(f"has a `${following}`, which the shell would replace")
        part.certain = part.certain and following not in _OF_ZSH
        part.pieces.append("$")
        self.at += 1


def _told_by_cat(text: str, at: int) -> tuple[str, int] | None:
    """Return what `$(cat <<'END' …)` tells and where it ends: nothing is replaced in it, and long messages come so."""
    head = _CAT.match(text, at)
    if not head:
        return None
    end = re.compile(rf"^{head[2]}\n[ \t\n]*\)", re.MULTILINE).search(text, head.end())
    first = re.compile(rf"^\t*{head[2]}$", re.MULTILINE).search(text, head.end())
    if not end or not first or first.start() != end.start():
        return None
    return text[head.end() : end.start()].rstrip("\n"), end.end()
