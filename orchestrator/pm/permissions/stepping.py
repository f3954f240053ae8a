"""One simple command of a script: its substitutions, its input, its assignments, and what it runs."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from orchestrator.formats.shell.tree import (
    Arithmetic,
    Assignment,
    Parameter,
    Part,
    Process,
    Redirect,
    Script,
    Simple,
    Substitution,
    Word,
)
from orchestrator.model.permission import PermissionDecision
from orchestrator.pm.permissions import commands, effects, shell_commands
from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.defaults.variables import SECRET_VARIABLES
from orchestrator.pm.permissions.expanding import members
from orchestrator.pm.permissions.fields import ANYTHING, FILE_TEXT, MARKS, OWN_PROCESS, TOKEN, Field
from orchestrator.pm.permissions.files import read_word, write_target
from orchestrator.pm.permissions.finding import Case, Finding, built_in, strictest
from orchestrator.pm.permissions.matching import wild
from orchestrator.pm.permissions.outputs import Outputs
from orchestrator.pm.permissions.runs import Inner
from orchestrator.pm.permissions.scanning import denied_within
from orchestrator.pm.permissions.scope import UNKNOWN, Scope, Value, joined

DEEPEST: Final = 6
_MOST_COMMANDS: Final = 400
_SIGNALS: Final = frozenset(
    {
        "EXIT",
        "INT",
        "TERM",
        "HUP",
        "QUIT",
        "0",
        "1",
        "2",
        "15",
        "SIGINT",
        "SIGTERM",
        "SIGHUP",
        "SIGEXIT",
        "ERR",
    }
)
_TESTS: Final = frozenset({"test", "["})
_OFFSET: Final = re.compile(rf"[0-9 :+{TOKEN}-]*")
_SILENT: Final = frozenset({"length", "+", ":+"})
"""Operators whose result contains nothing of the variable's value."""

Outcome = tuple[Scope, Scope]
"""The scopes after a command: if it succeeded, and in any case."""


class Budget:
    """How many more commands of one line are judged; loops are walked through more than once."""

    def __init__(self) -> None:
        self.left = _MOST_COMMANDS


class Stepper(ABC):
    """Judges simple commands, and collects the results in `findings`."""

    def __init__(self, case: Case, depth: int, budget: Budget) -> None:
        self.case = case
        self.depth = depth
        self.budget = budget
        self.outputs = Outputs(case.workplace)
        self.expander = self.outputs.expander
        self.findings: list[Finding] = []
        self.traps: list[str] = []

    @abstractmethod
    def script(self, script: Script, scope: Scope, given: str | None = None) -> Scope:
        """Judge a script, and return the scope after it."""

    @abstractmethod
    def text(self, text: str, scope: Scope, given: str | None = None) -> Scope:
        """Judge a script in text form, and return the scope after it."""

    @abstractmethod
    def call_function(self, fields: Sequence[Field], scope: Scope, given: str | None) -> Scope:
        """Judge the body of a function with the words that it is called with."""

    @abstractmethod
    def apart(self) -> Stepper:
        """Return a stepper that collects its findings separately, one level deeper."""

    def found(self) -> Finding:
        """Return the strictest of all findings."""
        return strictest([*self.findings, built_in(PermissionDecision.ALLOW, "nothing is run")])

    # -------------------------------------------------------------------------------------------------

    def simple(self, simple: Simple, scope: Scope, given: str | None) -> Outcome:
        """Judge a simple command."""
        self.budget.left -= 1
        if self.budget.left < 0:
            self.findings.append(self.case.doubt("it runs more than can be followed"))
            return scope, scope
        for word in (*_words_of(simple.assignments), *simple.words):
            self.replaced(word, scope, shows=bool(simple.words) and simple.words[0].literal not in _TESTS)
        values = [(each.name, self._value(each, scope)) for each in simple.assignments]
        if not simple.words:
            made = self._assigned(values, scope)
            self._run_traps(made)
            return made, made
        for name, value in values:
            if not (name == "IFS" and simple.words[0].literal in {"read", "mapfile"}):
                self.findings += [shell_commands.assigned(self.case, name, text) for text in value.texts]
        outcomes = [
            self._command(choice, scope, given, simple.source)
            for choice in self.expander.choices(simple.words, scope)
        ]
        after = _joined([after for _, after in outcomes])
        if after.places != scope.places or after.values != scope.values:
            self._run_traps(after)
        return _joined([ok for ok, _ in outcomes]), after

    def redirected(self, redirects: Sequence[Redirect], scope: Scope, given: str | None) -> str | None:
        """Judge redirections, and return the text that is read; None if it reads nothing or that is unknown."""
        call = Call(self.case, "", (Field("redirection"),), scope)
        for redirect in redirects:
            if redirect.text is not None:
                self.replaced(redirect.text.word, scope, shows=True)
                texts = self.expander.texts(redirect.text.word, scope)
                given = texts[0] if len(texts) == 1 else ANYTHING
            if redirect.target is None:
                continue
            self.replaced(redirect.target, scope, shows=False)
            for choice in self.expander.choices((redirect.target,), scope):
                for field in choice or (Field(""),):
                    self.findings.append(
                        write_target(call, field) if redirect.writes else read_word(call, field)
                    )
            if not redirect.writes:
                part = redirect.target.parts[0] if len(redirect.target.parts) == 1 else None
                if isinstance(part, Process):
                    texts = self.outputs.of(part.script, scope)
                    given = texts[0] if len(texts) == 1 else ANYTHING
                else:
                    own = all(
                        call.lies_inside(field)
                        for choice in self.expander.choices((redirect.target,), scope)
                        for field in choice
                    )
                    given = FILE_TEXT if own else ANYTHING
        return given

    def replaced(self, word: Word, scope: Scope, *, shows: bool) -> None:
        """Judge what a shell runs to substitute parts of a word; `shows`: the result becomes visible."""
        for part in _all_parts(word.parts):
            match part:
                case Substitution() | Process():
                    self.script(part.script, scope.copy())
                case Arithmetic():
                    self._counted(part, scope)
                case Parameter():
                    if shows and self._may_be_secret(part, scope):
                        self.findings.append(self.case.doubt(f"`${part.name}` may hold a secret"))
                    if part.operator in {"=", ":="}:
                        scope.values[part.name] = UNKNOWN
                    if part.operator == ":" and not all(
                        _OFFSET.fullmatch(text) for text in self.expander.texts(Word(part.operand), scope)
                    ):
                        self.findings.append(self.case.doubt("arithmetic may run code in its operands"))
                case _:
                    pass

    def within(self, runs: Inner, call: Call) -> Finding:
        """Return the finding on the command that another command runs."""
        if runs.doubt:
            doubt = self.case.doubt(f"{call.shown}: {runs.doubt}")
            return denied_within(self.case, " ".join(field.text for field in call.fields)) or doubt
        if self.depth >= DEEPEST:
            return self.case.doubt("it goes deeper than can be followed")
        inside = self.apart()
        if runs.text:
            scope = call.scope.copy()
            scope.functions, scope.values, scope.arguments = {}, {}, runs.arguments
            inside.text(runs.text, scope, None)
            return inside.found()
        inside.findings += [shell_commands.assigned(self.case, name, text) for name, text in runs.assignments]
        if runs.fields:
            given = call.given if call.name not in {"xargs", "gxargs"} else None
            found = commands.judged(
                self.case, runs.fields, call.scope, given, inside.within, module=runs.module
            )
            inside.findings.append(found)
        if runs.also is not None:
            inside.findings.append(self.within(runs.also, call))
        return inside.found()

    # -------------------------------------------------------------------------------------------------

    def _command(self, fields: tuple[Field, ...], scope: Scope, given: str | None, source: str) -> Outcome:
        if not fields:
            return scope, scope
        name = fields[0].text
        if name in scope.functions and fields[0].certain:
            made = self.call_function(fields, scope, given)
            if name in scope.unsure:
                self.findings.append(commands.judged(self.case, fields, scope, given, self.within))
            return made, joined(scope, made)
        if name == "eval" and len(fields) > 1 and all(field.certain for field in fields):
            text = " ".join(field.text for field in fields[1:])
            made = self.text(text, scope, given) if self.depth < DEEPEST else scope
            return made, joined(scope, made)
        if name == "trap" and len(fields) > 2 and fields[1].text not in {"-", ""} and not fields[1].option:  # noqa: PLR2004 (what, and when)
            code = fields[1].text.replace(OWN_PROCESS, "$!")
            if Field(code).certain and all(field.text in _SIGNALS for field in fields[2:]):
                self.traps.append(code)
                self._run_traps(scope)
                return scope, scope
        found = commands.judged(self.case, fields, scope, given, self.within)
        if found.decision is not PermissionDecision.ALLOW and not all(field.known for field in fields[:1]):
            found = denied_within(self.case, source) or found
        self.findings.append(found)
        return effects.behind(Call(self.case, name, fields, scope, given), scope)

    def _run_traps(self, scope: Scope) -> None:
        """Judge the commands of a trap, which may run at any time, with what is known then."""
        traps, self.traps = self.traps, []
        for code in traps:
            inside = scope.copy()
            inside.values.setdefault("!", Value((OWN_PROCESS,)))
            self.text(code, inside, None)
        self.traps = [*traps, *self.traps]

    def _value(self, assignment: Assignment, scope: Scope) -> Value:
        if assignment.values is not None:
            for word in assignment.values:
                self.replaced(word, scope, shows=False)
            value = members(self.expander, assignment.values, scope)
            before = scope.values.get(assignment.name)
            if not assignment.adds:
                return value
            earlier = before.members if before is not None else None
            if earlier is None or value.members is None:
                return Value()
            return Value(members=(*earlier, *value.members))
        texts = self.expander.texts(assignment.value, scope) if assignment.value is not None else ("",)
        if assignment.adds:
            before = scope.values.get(assignment.name)
            known = before.texts if before is not None and before.members is None else (ANYTHING,)
            # dash has no `+=`, and leaves the variable unchanged.
            texts = (*known, *(first + second for first in known for second in texts))
        return Value(tuple(dict.fromkeys(texts))[:8]) if len(set(texts)) <= 8 else Value()  # noqa: PLR2004

    def _assigned(self, values: Iterable[tuple[str, Value]], scope: Scope) -> Scope:
        made = scope.copy()
        for name, value in values:
            made.values[name] = value
            made.splits = made.splits and name != "IFS"
            self.findings += [shell_commands.assigned(self.case, name, text) for text in value.texts]
        return made

    def _counted(self, part: Arithmetic, scope: Scope) -> None:
        """Judge arithmetic: bash runs code in an array index within the value of a variable."""
        for name in part.names:
            value = scope.values.get(name)
            if value is not None and any(not _counts(text) for text in value.texts):
                self.findings.append(self.case.doubt(f"`{name}` may hold code that arithmetic runs"))
        for text in self.expander.texts(Word(part.parts), scope) if part.parts else ():
            unset = all(isinstance(each, Parameter) and each.name not in scope.values for each in part.parts)
            if not unset and not _counts(text):
                self.findings.append(self.case.doubt("arithmetic may run code in its operands"))

    def _may_be_secret(self, part: Parameter, scope: Scope) -> bool:
        named = any(wild(pattern, part.name.upper()) for pattern in SECRET_VARIABLES)
        return named and part.operator not in _SILENT and part.name not in scope.values


def _words_of(assignments: Iterable[Assignment]) -> Iterator[Word]:
    for each in assignments:
        if each.value is not None:
            yield each.value


def _all_parts(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield parts and those of their operands; a substitution contains a script of its own."""
    for part in parts:
        yield part
        if isinstance(part, Parameter):
            yield from _all_parts(part.operand)
        elif isinstance(part, Arithmetic):
            yield from _all_parts(part.parts)


def _counts(text: str) -> bool:
    """Return whether arithmetic reads a value as a number or a name."""
    bare = "".join(sign for sign in text if sign not in MARKS)
    return ANYTHING not in text and (not bare or bare.replace("_", "a").replace("-", "1").isalnum())


def _joined(scopes: Sequence[Scope]) -> Scope:
    made = scopes[0]
    for scope in scopes[1:]:
        made = joined(made, scope)
    return made
