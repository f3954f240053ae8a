"""Reading what a shell replaces: parameters, output of commands, arithmetic."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

from orchestrator.formats.shell.source import Doubt, Source
from orchestrator.formats.shell.tree import Arithmetic, Parameter, Part, Script, Substitution, Text

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_BRACED: Final = re.compile(r"(#?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])((?:\[[0-9@*]+\])?)")
_OPERATOR: Final = re.compile(r":?[-=?+]|##?|%%?|//?|\^\^?|,,?|:")
_VAGUE: Final = re.compile(r"\[|:[A-Za-z&]")
"""In zsh a subscript or a modifier, also where no brace is."""

_OF_ZSH: Final = frozenset("=^~+")
"""What may stand between `$` and a name in zsh."""

_OPERAND: Final = re.compile(r"[^}'\"\\$`{(]+")
_COUNTED: Final = re.compile(r"[0-9A-Za-z_ \t+*/%<>=!&|^~?:,#-]+")
_IDENTIFIER: Final = re.compile(r"(?<![0-9A-Za-z_#])[A-Za-z_][A-Za-z0-9_]*")


@dataclass(slots=True)
class ExpansionReader(Source, ABC):
    """Reads what begins with a `$` or a backquote."""

    @abstractmethod
    def script_until_closed(self) -> Script:
        """Return the script up to the `)` that closes it, and go past that. Raises Doubt."""

    @abstractmethod
    def nested(self, text: str) -> Script:
        """Return a script that is written within this one, by itself. Raises Doubt."""

    def expansion(self, *, quoted: bool) -> Part:
        """Return what a `$` begins. Raises Doubt."""
        if self.take("$(("):
            return self._arithmetic(quoted=quoted)
        if self.take("$("):
            self.enter()
            found = Substitution(self.script_until_closed(), quoted)
            self.depth -= 1
            return found
        if self.take("${"):
            return self._braced(quoted=quoted)
        if self.starts("$[", "$\\\n"):
            raise Doubt("has a `$` that shells do not read alike")
        found_name = _NAME.match(self.text, self.at + 1)
        if found_name:
            self.at = found_name.end()
            vague = _VAGUE.match(self.text, self.at) is not None
            return Parameter(found_name[0], quoted=quoted, vague=vague)
        if self.text[self.at + 1 : self.at + 2] in _OF_ZSH:
            raise Doubt("has a `$` that zsh reads in its own way")
        self.at += 1
        return Text("$", quoted=True)

    def backquoted(self, *, quoted: bool) -> Substitution:
        """Return what backquotes hold. Raises Doubt."""
        end = self.text.find("`", self.at + 1)
        inner = self.text[self.at + 1 : end]
        if end < 0 or "\\" in inner or (quoted and '"' in inner):
            raise Doubt("has backquotes that cannot be read with certainty")
        self.at = end + 1
        return Substitution(self.nested(inner), quoted)

    def _braced(self, *, quoted: bool) -> Parameter:
        """Return a parameter in braces; the `${` lies behind us."""
        found = _BRACED.match(self.text, self.at)
        if not found:
            raise Doubt("has a `${` that cannot be read with certainty")
        self.at = found.end()
        length, name, subscript = found.groups()
        if self.take("}"):
            return Parameter(name, "length" if length else subscript, quoted=quoted)
        operator = _OPERATOR.match(self.text, self.at)
        if length or not operator or subscript:
            raise Doubt("has a `${` that cannot be read with certainty")
        self.at = operator.end()
        return Parameter(name, operator[0], self._operand(quoted=quoted), quoted)

    def _operand(self, *, quoted: bool) -> tuple[Part, ...]:
        """Return what stands between an operator and the `}`, which is gone past."""
        parts = list[Part]()
        while not self.take("}"):
            found = _OPERAND.match(self.text, self.at)
            sign = self.ahead()
            if found:
                parts.append(Text(found[0], quoted))
                self.at = found.end()
            elif sign == "$" and self.ahead(2) not in {"$'", '$"'}:
                parts.append(self.expansion(quoted=quoted))
            elif sign == '"' and not quoted:
                parts += self._quoted_operand()
            elif sign == "\\" and not quoted and self.text[self.at + 1 : self.at + 2].isprintable():
                parts.append(Text(self.text[self.at + 1 : self.at + 2], quoted=True))
                self.at += 2
            else:
                raise Doubt("has a `${` that cannot be read with certainty")
        return tuple(parts)

    def _quoted_operand(self) -> list[Part]:
        """Return a part in double quotes that holds nothing but characters and parameters."""
        end = self.text.find('"', self.at + 1)
        inner = self.text[self.at + 1 : end]
        if end < 0 or set(inner) & set("$`\\}{"):
            raise Doubt("has a `${` that cannot be read with certainty")
        self.at = end + 1
        return [Text(inner, quoted=True)]

    def _arithmetic(self, *, quoted: bool) -> Arithmetic:
        """Return what `$((…))` holds; the `$((` lies behind us."""
        names, parts, open_now = list[str](), list[Part](), 0
        while not (self.starts("))") and not open_now):
            found = _COUNTED.match(self.text, self.at)
            sign = self.ahead()
            if found:
                names += _IDENTIFIER.findall(found[0])
                self.at = found.end()
            elif sign == "$" and self.ahead(3) != "$((":
                parts.append(self.expansion(quoted=True))
            elif sign == "(" or (sign == ")" and open_now):
                open_now += 1 if sign == "(" else -1
                self.at += 1
            else:
                raise Doubt("has arithmetic that cannot be read with certainty")
        self.at += 2
        return Arithmetic(tuple(names), tuple(parts), quoted)

    def count(self) -> tuple[Arithmetic, str]:
        """Return what a `((…))` holds that stands for a command, and how it is written. Raises Doubt."""
        begun = self.at + 2
        self.at = begun
        value = self._arithmetic(quoted=True)
        return value, self.text[begun : self.at - 2]
