"""Parses a script: its commands, and what joins and groups them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from orchestrator.formats.shell.compounds import CompoundReader
from orchestrator.formats.shell.source import Doubt, HereDocument
from orchestrator.formats.shell.tree import (
    Assignment,
    Block,
    Chain,
    Function,
    HereText,
    Node,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Text,
    Word,
)
from orchestrator.formats.text import names

LONGEST: Final = 100_000

_CLOSING: Final = re.compile(r"(?:then|do|done|fi|elif|else|esac|\})(?=[\s;|&()<>]|$)")
_RESERVED: Final = names(
    "if then elif else fi for while until do done case esac in function select { } [[ ]] coproc foreach repeat end"
    " always nocorrect ! time"
)
_REDIRECT: Final = re.compile(r"(?:[0-9]{1,3})?(<<<|<<-|<<|<>|<&|>>|>\||>&|<|>)|(&>>|&>)")
_DESCRIPTOR: Final = re.compile(r"[0-9]{1,3}-?|-")
_RANGE_OF_ZSH: Final = re.compile(r"<[0-9]*-[0-9]*>")
_PREFIX: Final = re.compile(r"(?:!|time(?:[ \t]+-p)?)(?=[ \t])")
_ASSIGNED: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_FUNCTION: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_EMPTY: Final = re.compile(r"[ \t]*\([ \t]*\)")


def read_script(text: str) -> Script:
    """Parse the text of a shell script.

    Raises:
        Doubt: it is too long, ambiguous, or holds no command.

    """
    if len(text) > LONGEST:
        raise Doubt(f"is longer than {LONGEST} characters")
    reader = ScriptReader(text)
    script = reader.script()
    if reader.at < len(text):
        raise Doubt(f"has a `{reader.ahead()}` that nothing opened")
    if reader.due:
        raise Doubt("has a here-document without its text")
    if not script.chains:
        raise Doubt("holds no command")
    return script


@dataclass(slots=True)
class ScriptReader(CompoundReader):
    """Parses whole scripts."""

    outer: list[HereDocument] = field(default_factory=list)

    def nested(self, text: str) -> Script:
        """Parse a script that is embedded in this one. Raises Doubt."""
        inner = ScriptReader(text, depth=self.depth + 1, words=self.words)
        script = inner.script()
        if inner.at < len(text) or inner.due:
            raise Doubt("runs something within that cannot be read with certainty")
        self.words = inner.words
        return script

    def script_until_closed(self) -> Script:
        """Parse the script up to the `)` that closes it, and skip that. Raises Doubt."""
        due, self.due = self.due, []
        outer, self.outer = self.outer, self.outer + due
        within, self.closed_by_bracket = self.closed_by_bracket, True
        script = self.script()
        if self.due or not self.take(")"):
            raise Doubt("has a `(` that is not closed")
        self.due, self.outer, self.closed_by_bracket = due, outer, within
        return script

    def script(self) -> Script:
        """Parse the chains up to the end of this script; its closing sign is left unread. Raises Doubt."""
        chains = list[Chain]()
        while True:
            self.separators()
            if self.at >= len(self.text) or self.starts(")", ";;", ";&"):
                return Script(tuple(chains))
            if _CLOSING.match(self.text, self.at):
                return Script(tuple(chains))
            chains.append(self._chain())

    def separators(self) -> None:
        """Skip blanks and line ends, and read the here-documents due there. Raises Doubt."""
        self.blank()
        while self.take("\n"):
            self._here_documents()
            self.blank()

    def _chain(self) -> Chain:
        pipelines, operators = [self._pipeline()], list[str]()
        while True:
            self.blank()
            if not self.starts("&&", "||"):
                break
            operators.append(self.ahead(2))
            self.at += 2
            self.separators()
            pipelines.append(self._pipeline())
        background = self.starts("&") and not self.starts("&>", "&|", "&!")
        if background or (self.starts(";") and not self.starts(";;", ";&")):
            self.at += 1
        elif self.at < len(self.text) and not self.starts("\n", ")", ";;", ";&"):
            raise Doubt(f"has a `{self.ahead()}` where nothing can follow")
        return Chain(tuple(pipelines), tuple(operators), background)

    def _pipeline(self) -> Pipeline:
        negated = False
        while found := _PREFIX.match(self.text, self.at):
            negated = negated or found[0] == "!"
            self.at = found.end()
            self.blank()
        nodes = [self.node()]
        self.blank()
        while self.starts("|") and not self.starts("||"):
            self.at += 2 if self.starts("|&") else 1
            self.separators()
            nodes.append(self.node())
            self.blank()
        return Pipeline(tuple(nodes), negated)

    def node(self) -> Node:
        """Parse one command with its redirections. Raises Doubt."""
        self.enter()
        compound = self.compound()
        if compound is not None:
            redirects = self._redirects()
            self.depth -= 1
            return Node(compound, tuple(redirects))
        found = self._simple()
        self.depth -= 1
        return found

    def _redirects(self) -> list[Redirect]:
        found = list[Redirect]()
        self.blank()
        while redirect := self._redirect():
            found += redirect
            self.blank()
        return found

    def _simple(self) -> Node:
        begun = self.at
        assignments, words, redirects = list[Assignment](), list[Word](), list[Redirect]()
        while True:
            self.blank()
            if redirect := self._redirect():
                redirects += redirect
                continue
            if self.starts("<(", ">(") and not any(redirect.both for redirect in redirects):
                words.append(self.process())
                continue
            if self.at >= len(self.text) or self.ahead() in {"\n", ";", "|", "&", ")"}:
                break
            if self.ahead() == "(":
                raise Doubt("has a `(` within a command")
            if any(redirect.both for redirect in redirects):
                raise Doubt("goes on behind a `&>`, where dash begins another command")
            if not words and (assigned := self._assignment()):
                assignments.append(assigned)
                continue
            word = self.word()
            if word.bare == "}" or (not words and not assignments and word.bare in _RESERVED):
                raise Doubt(f"has the shell's own `{word.bare}`")
            words.append(word)
            if len(words) == 1 and not assignments and not redirects and _EMPTY.match(self.text, self.at):
                return Node(self._function(word))
        if not (words or assignments or redirects):
            raise Doubt(f"has a `{self.ahead()}` where a command is expected")
        simple = Simple(tuple(assignments), tuple(words), self.text[begun : self.at])
        return Node(simple, tuple(redirect for redirect in redirects if redirect.target or redirect.text))

    def _function(self, name: Word) -> Function:
        found = _EMPTY.match(self.text, self.at)
        if found is None or name.bare is None or not _FUNCTION.fullmatch(name.bare):
            raise Doubt("defines a function in a way that cannot be read with certainty")
        self.at = found.end()
        self.separators()
        return Function(name.bare, self.body())

    def body(self) -> Node:
        """Parse the body of a function. Raises Doubt."""
        node = self.node()
        if not isinstance(node.command, Block):
            raise Doubt("defines a function in a way that cannot be read with certainty")
        return node

    def _assignment(self) -> Assignment | None:
        found = _ASSIGNED.match(self.text, self.at)
        if not found:
            return None
        self.at = found.end()
        name, adds = found[1], bool(found[2])
        if self.take("("):
            values = list[Word]()
            self.separators()
            while not self.take(")"):
                if self.at >= len(self.text) or self.ahead() in {";", "|", "&", "<", ">", "("}:
                    raise Doubt("has an array that cannot be read with certainty")
                values.append(self.word())
                self.separators()
            return Assignment(name, values=tuple(values), adds=adds)
        return Assignment(name, self.word(), adds=adds)

    def _redirect(self) -> list[Redirect]:
        """Parse a redirection; empty if there is none here. One of a descriptor alone has no target."""
        found = _REDIRECT.match(self.text, self.at)
        if not found or self.starts("<(", ">("):
            return []
        if _RANGE_OF_ZSH.match(self.text, self.at):
            raise Doubt("has a `<…-…>`, which zsh takes for a pattern")
        sign = found[1] or found[2]
        self.at = found.end()
        if sign in {"<<", "<<-"}:
            return [self._here_document(tabs=sign == "<<-")]
        self.blank()
        if self.starts("<(", ">("):
            target = self.process()
        elif self.at >= len(self.text) or self.ahead() in "\n;|&<>()!":
            raise Doubt("has a redirection to nowhere")
        else:
            target = self.word()
        if sign == "<<<":
            return [Redirect(writes=False, text=HereText(target))]
        if sign in {">&", "<&"} and target.bare is not None and _DESCRIPTOR.fullmatch(target.bare):
            return [Redirect(writes=False)]
        writes = not sign.startswith("<") or sign == "<>"
        return [Redirect(writes, target, both=sign.startswith("&"))]

    def _here_document(self, *, tabs: bool) -> Redirect:
        self.blank()
        if self.at >= len(self.text) or self.ahead() in "\n;|&<>()":
            raise Doubt("has a here-document without an end word")
        end = self.word()
        if end.literal is None or "\n" in end.literal:
            raise Doubt("has a here-document whose end is not certain")
        here = HereText()
        self.due.append(HereDocument(here, end.literal, end.bare is not None, tabs))
        return Redirect(writes=False, text=here)

    def _here_documents(self) -> None:
        """Read the texts of the here-documents that the line just ended has begun."""
        if self.outer:
            raise Doubt("has a here-document whose text begins within something else")
        for each in self.due:
            body = list[str]()
            while True:
                if self.at >= len(self.text):
                    raise Doubt("has a here-document that does not end")
                stop = self.text.find("\n", self.at)
                stop = stop if stop >= 0 else len(self.text)
                line = self.text[self.at : stop]
                self.at = min(stop + 1, len(self.text))
                if (line.lstrip("\t") if each.tabs else line) == each.end:
                    break
                if each.expands and (len(line) - len(line.rstrip("\\"))) % 2:
                    raise Doubt("has a here-document in which a line goes on behind its end")
                body.append(line.lstrip("\t") if each.tabs else line)
            text = "".join(f"{line}\n" for line in body)
            inner = ScriptReader(text, depth=self.depth + 1, words=self.words)
            each.text.word = inner.here_text() if each.expands else Word((Text(text, quoted=True),))
        self.due.clear()
