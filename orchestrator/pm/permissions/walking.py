"""Walking through a script as a shell would run it, taking every branch: each command is judged in its context.

The known variables, folders and functions are carried along [scope.py]. Where two branches meet, only what both know
stays known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, assert_never

from orchestrator.formats.shell import LONGEST, Doubt, read_script
from orchestrator.formats.shell.tree import (
    Block,
    Chain,
    Count,
    For,
    Function,
    If,
    Node,
    Parameter,
    Pipeline,
    Script,
    Simple,
    Test,
    While,
    Word,
)
from orchestrator.formats.shell.tree import (
    Case as Choice,
)
from orchestrator.model.permission import PermissionDecision
from orchestrator.pm.permissions.commands import judged_by_name
from orchestrator.pm.permissions.expanding import started
from orchestrator.pm.permissions.fields import ANY_FILE, ANYTHING, SOME_FILE, TOKEN, Field
from orchestrator.pm.permissions.finding import Case, Finding, built_in, shown
from orchestrator.pm.permissions.scanning import denied_within
from orchestrator.pm.permissions.scope import UNKNOWN, Scope, Value, either, joined
from orchestrator.pm.permissions.shell_commands import is_unsafe
from orchestrator.pm.permissions.stepping import Budget, Outcome, Stepper

_MOST_ITEMS: Final = 60
_MOST_CALLS: Final = 8
_ROUNDS: Final = 3
"""How often the body of a loop is walked through before everything that it changes counts as unknown."""


def judged_line(case: Case, text: str, places: frozenset[str]) -> Finding:
    """Return the finding on a command line that is run in one of these folders."""
    if len(text) > LONGEST:
        return built_in(
            PermissionDecision.DENY,
            f"a command line of {len(text)} characters is too long to judge: put it into a file",
        )
    walk = Walk(case, 0, Budget())
    walk.text(text, Scope(places))
    return walk.found()


class Walk(Stepper):
    """Walks through scripts."""

    def apart(self) -> Walk:
        """Return a walk that collects its findings separately, one level deeper."""
        return Walk(self.case, self.depth + 1, self.budget)

    def text(self, text: str, scope: Scope, given: str | None = None) -> Scope:
        """Judge a script in text form, and return the scope after it."""
        try:
            script = read_script(text)
        except Doubt as doubt:
            found = self.case.doubt(f"{shown(text)} cannot be judged with certainty: it {doubt}")
            self.findings.append(denied_within(self.case, text) or found)
            return scope.moved({*scope.places, ""})
        return self.script(script, scope, given)

    def script(self, script: Script, scope: Scope, given: str | None = None) -> Scope:
        """Judge a script, and return the scope after it."""
        return self._run(script, scope, given)[1]

    def call_function(self, fields: Sequence[Field], scope: Scope, given: str | None) -> Scope:
        """Judge the body of a function with the words that it is called with."""
        name = fields[0].text
        if name in scope.called or len(scope.called) >= _MOST_CALLS:
            self.findings.append(self.case.doubt(f"the function {shown(name)} calls itself"))
            return scope
        self.findings += judged_by_name(self.case, [field.text for field in fields])
        made = scope.copy()
        made.arguments, made.called = tuple(fields[1:]), (*scope.called, name)
        behind = self._node(scope.functions[name].body, made, given)[1].copy()
        behind.arguments, behind.called = scope.arguments, scope.called
        return behind

    # -------------------------------------------------------------------------------------------------

    def _run(self, script: Script, scope: Scope, given: str | None) -> Outcome:
        succeeded = scope
        for chain in script.chains:
            succeeded, scope = self._chain(chain, scope, given)
        return succeeded, scope

    def _chain(self, chain: Chain, scope: Scope, given: str | None) -> Outcome:
        begun = scope
        scope = scope.copy() if chain.background else scope
        succeeded, after = self._pipeline(chain.pipelines[0], scope, given)
        for operator, pipeline in zip(chain.operators, chain.pipelines[1:], strict=True):
            start = succeeded if operator == "&&" else after
            next_succeeded, next_after = self._pipeline(pipeline, start, given)
            after = joined(after, next_after)
            succeeded = next_succeeded if operator == "&&" else joined(succeeded, next_succeeded)
        if chain.background:
            made = started(begun)
            return made, made
        return succeeded, after

    def _pipeline(self, pipeline: Pipeline, scope: Scope, given: str | None) -> Outcome:
        if len(pipeline.nodes) == 1:
            succeeded, after = self._node(pipeline.nodes[0], scope, given)
            return (after, after) if pipeline.negated else (succeeded, after)
        for at, node in enumerate(pipeline.nodes):
            piped = self.outputs.of_pipeline(pipeline.nodes[:at], scope) if at else given
            behind = self._node(node, scope.copy(), piped)[1]
        made = joined(scope, behind)  # zsh runs the last one in the shell itself
        return made, made

    def _node(self, node: Node, scope: Scope, given: str | None) -> Outcome:
        given = self.redirected(node.redirects, scope, given)
        command = node.command
        match command:
            case Simple():
                return self.simple(command, scope, given)
            case Block():
                behind = self.script(command.body, scope.copy(), given)
                return (scope, scope) if command.apart else (behind, joined(scope, behind))
            case If():
                made = self._if(command, scope, given)
            case For():
                made = self._for(command, scope, given)
            case While():
                made = self._while(command, scope, given)
            case Choice():
                made = self._choice(command, scope, given)
            case Function():
                made = self._function(command, scope)
            case Test():
                self._test(command, scope)
                made = scope
            case Count():
                self._count(command, scope)
                made = scope.copy()
                made.values |= dict.fromkeys(command.value.names, _NUMBER)
            case _:
                assert_never(command)
        return made, made

    def _if(self, command: If, scope: Scope, given: str | None) -> Scope:
        made, start = None, scope
        for condition, body in command.clauses:
            succeeded, start = self._run(condition, start, given) if condition.chains else (start, start)
            behind = self.script(body, succeeded.copy(), given)
            made = behind if made is None else joined(made, behind)
        return start if made is None else joined(made, start)

    def _for(self, command: For, scope: Scope, given: str | None) -> Scope:
        words = command.words
        if words is None:
            words = (Word((Parameter("@", quoted=True),)),)
        for word in words:
            self.replaced(word, scope, shows=False)
        if is_unsafe(command.name):
            self.findings.append(
                self.case.doubt(f"setting {shown(command.name)} may change what later commands do")
            )
        made = scope
        for choice in self.expander.choices(words, scope):
            items = choice if len(choice) <= _MOST_ITEMS else (Field(ANYTHING),)
            behind = scope
            for field in items:
                start = behind.copy()
                start.values[command.name] = Value((_item(field),))
                behind = joined(behind, self._again(command.body, start, given, rounds=len(items) == 1))
            made = joined(made, behind)
        return made

    def _while(self, command: While, scope: Scope, given: str | None) -> Scope:
        for at in range(_ROUNDS):
            succeeded, start = self._run(command.condition, scope, given)
            begun = start if command.until else succeeded
            made = joined(scope, self.script(command.body, begun.copy(), given))
            if _settled(made, scope):
                break
            scope = made if at < _ROUNDS - 2 else _forgotten(scope, made)
        return joined(scope, start)

    def _again(self, body: Script, scope: Scope, given: str | None, *, rounds: bool) -> Scope:
        """Walk through a body that may be run more than once, with what is in the scope."""
        behind = self.script(body, scope, given)
        if not rounds or _settled(joined(scope, behind), scope):
            return behind
        return self.script(body, _forgotten(scope, behind), given)

    def _choice(self, command: Choice, scope: Scope, given: str | None) -> Scope:
        self.replaced(command.word, scope, shows=False)
        made = scope
        for patterns, body in command.clauses:
            for pattern in patterns:
                self.replaced(pattern, scope, shows=False)
            made = joined(made, self.script(body, scope.copy(), given))
        return made

    def _function(self, command: Function, scope: Scope) -> Scope:
        made = scope.copy()
        made.functions[command.name] = command
        if command.keyword:  # dash runs what stands in its braces
            self._node(command.body, scope.copy(), None)
        return made

    def _test(self, command: Test, scope: Scope) -> None:
        """Judge `[[ … ]]`. For dash what follows an `&&` in it is a command."""
        for at, condition in enumerate(command.conditions):
            for word in condition:
                self.replaced(word, scope, shows=False)
            for choice in self.expander.choices(condition, scope):
                self._compared(condition, choice, scope)
                if not at:
                    continue
                first = choice[0].text if choice else "-"
                if not first.startswith(("-", "!", ANYTHING)) and not _is_unset(condition[0], scope):
                    self.findings.append(
                        self.case.doubt(f"has {shown(first)} in a `[[` that not all shells support")
                    )

    def _compared(self, condition: Sequence[Word], choice: Sequence[Field], scope: Scope) -> None:
        """Judge one condition of `[[ … ]]`: bash runs code in an array index where it compares numbers."""
        counts = any(field.text in _COMPARES or field.text == "-v" for field in choice)
        unknown = any(ANYTHING in field.text for field in choice) and not all(
            map(_is_plain(scope), condition)
        )
        if any("$(" in field.text or "`" in field.text for field in choice) or (counts and unknown):
            self.findings.append(self.case.doubt("a comparison may run code in an array index"))

    def _count(self, command: Count, scope: Scope) -> None:
        self.replaced(Word((command.value,)), scope, shows=False)
        if any(map(is_unsafe, command.value.names)):
            self.findings.append(
                self.case.doubt("counting with such a variable may change what later commands do")
            )
        known = (
            command.first in scope.values
            or not command.first.replace("_", "a").isalnum()
            or command.first.isdecimal()
        )
        if not known and len(command.first) > 1:
            self.findings.append(
                self.case.doubt(f"has {shown(command.first)} in a `((` that not all shells support")
            )


_NUMBER: Final = Value((TOKEN,))
_GLOB: Final = frozenset("*?[")
_COMPARES: Final = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


def _is_plain(scope: Scope) -> Callable[[Word], bool]:
    """Return a predicate for words that are known, or are variables that the line does not set."""
    return lambda word: word.literal is not None or _is_unset(word, scope)


def _item(field: Field) -> str:
    """Return the value of a loop's variable for one of its words; a pattern stands for files."""
    if field.tilde or not field.glob:
        return ANYTHING if field.tilde else field.text
    parts = field.text.split("/")
    first = next(at for at, part in enumerate(parts) if not _GLOB.isdisjoint(part))
    behind = "/" if field.text.endswith("/") else ""
    mark = SOME_FILE if any(sign.isalnum() for sign in parts[first]) or first else ANY_FILE
    return "/".join([*parts[:first], mark]) + behind


def _settled(made: Scope, scope: Scope) -> bool:
    """Return whether walking through something changed nothing in the scope."""
    return made.places == scope.places and made.values == scope.values


def _forgotten(before: Scope, after: Scope) -> Scope:
    """Return the scope of a loop whose body changes what is known differently each time."""
    made = joined(before, after)
    if after.places != before.places:
        made.places |= {""}
    for name, value in after.values.items():
        if before.values.get(name) != value:
            made.values[name] = UNKNOWN if either(value, _NUMBER) != _NUMBER else value
    return made


def _is_unset(word: Word, scope: Scope) -> bool:
    """Return whether a word is a variable that the line does not set."""
    parts = [part for part in word.parts if isinstance(part, Parameter)]
    return bool(parts) and all(part.name not in scope.values for part in parts)
