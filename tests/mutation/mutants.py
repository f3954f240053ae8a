"""The mutants of a module: each is its text with one small fault in it.

What is changed into what, mutmut's operators say, and two of our own below; where, this page: everywhere but in
annotations, imports, the parameters of `@dataclass`, and what only words a message. Words are left alone since the
tests hold structure, not sentences.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators, operator_string

# Each yields what may stand in the place of a node of its kind.
Operator = Callable[[Any], Iterable[cst.CSTNode]]

# `len(None)` only fails; `isinstance` is asked with types.
CALLS_LEFT_ALONE = m.Call(func=m.Name("len") | m.Name("isinstance") | m.Name("cast") | m.Name("assert_never"))
NEVER = m.SimpleStatementLine(body=[m.Expr(value=m.Call(func=m.Name("assert_never")))])
WORDS = m.SimpleString() | m.FormattedString() | m.ConcatenatedString()


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault.

    Attributes:
        name: stays the same while the statement around it does, wherever in the module it moves.
        path: of the module, in the checkout.
        lines: the first and the last line of the statement in which the fault is, or of its head.
        scope: the function or class around it, with dots; empty at the module's level.
        source: the module's text with the fault in it.
    """

    name: str
    path: str
    lines: tuple[int, int]
    scope: str
    before: str
    after: str
    source: Callable[[], str] = field(repr=False, compare=False)


def negated_condition(node: cst.If | cst.While) -> Iterator[cst.CSTNode]:
    """Take the other branch."""
    if not isinstance(node.test, cst.Comparison | cst.UnaryOperation | cst.BooleanOperation):
        inner = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        yield node.with_changes(test=cst.UnaryOperation(cst.Not(), inner))


def call_left_out(node: cst.SimpleStatementLine) -> Iterator[cst.CSTNode]:
    """Leave out a call of which nobody takes the result: it was made for what it does."""
    if m.matches(node, m.SimpleStatementLine(body=[m.Expr(value=m.Call() | m.Await(m.Call()))])):
        yield node.with_changes(body=[cst.Pass()])


def mutants_of(path: str, text: str) -> list[Mutant]:
    """Give every mutant of a module, in the order of its text.

    Args:
        path: of the module, in the checkout; it becomes a part of the mutants' names.
        text: of the module.
    """
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    places = wrapper.resolve(PositionProvider)
    finder = _Finder(places)
    wrapper.module.visit(finder)
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for spot in finder.found:
        before, after = (_code(wrapper.module, node) for node in (spot.node, spot.changed))
        if before == after:
            continue
        around = _code(wrapper.module, spot.statement).strip().partition("\n")[0]
        same = (path, spot.scope, around, before, after)
        seen[same] += 1
        digest = hashlib.sha256("\0".join((*same, str(seen[same]))).encode()).hexdigest()
        found.append(
            Mutant(
                digest[:10],
                path,
                spot.lines,
                spot.scope,
                before,
                after,
                lambda spot=spot: _changed(wrapper.module, spot.node, spot.changed),  # type: ignore[misc]
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class _Spot:
    node: cst.CSTNode
    changed: cst.CSTNode
    statement: cst.CSTNode
    scope: str
    lines: tuple[int, int]


class _Finder(cst.CSTVisitor):
    """Walks over a module and notes what can be changed in it."""

    def __init__(self, places: Any) -> None:
        super().__init__()
        self.places = places
        self.found: list[_Spot] = []
        self.scope: list[str] = []
        self.statements: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            self.statements.append(node)
        if left_alone(node):
            return False
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self.scope.append(node.name.value)
        for changed in changes(node):
            statement = self.statements[-1]
            held = (
                _left_out(node, changed)
                if isinstance(node, cst.Match) and isinstance(changed, cst.Match)
                else statement
            )
            self.found.append(_Spot(node, changed, statement, ".".join(self.scope), self._lines(held)))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if self.statements and self.statements[-1] is original_node:
            self.statements.pop()
        if isinstance(original_node, cst.FunctionDef | cst.ClassDef):
            self.scope.pop()

    def _lines(self, statement: cst.CSTNode) -> tuple[int, int]:
        place = self.places[statement]
        last: int = place.end.line
        body = getattr(statement, "body", None)
        if isinstance(body, cst.IndentedBlock) and not isinstance(statement, cst.MatchCase):
            last = max(place.start.line, self.places[body].start.line - 1)
        return place.start.line, last


def left_alone(node: cst.CSTNode) -> bool:
    """Tell whether nothing is changed in a node, nor in what is below it."""
    if isinstance(node, cst.Annotation | cst.Import | cst.ImportFrom | cst.TypeAlias | cst.BaseString):
        return True
    if m.matches(node, m.If(test=m.Name("TYPE_CHECKING"))):
        return True
    return isinstance(node, cst.Decorator) and m.matches(
        node.decorator, m.Name("dataclass") | m.Call(func=m.Name("dataclass"))
    )


def changes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield what may stand in a node's place."""
    if m.matches(node, CALLS_LEFT_ALONE):
        return
    for kind, operator in OPERATORS:
        if isinstance(node, kind):
            yield from (changed for changed in operator(node) if not pointless(node, changed))


def pointless(node: cst.CSTNode, changed: cst.CSTNode) -> bool:
    """Tell whether a change teaches nothing.

    That is so where it takes only words away, or a case of which the types say that it never is; and where it takes
    an argument from its position, by which the call mostly fails whatever the tests hold.
    """
    if isinstance(node, cst.Match) and isinstance(changed, cst.Match):
        return m.matches(_left_out(node, changed).body, m.IndentedBlock(body=[NEVER]))
    if isinstance(node, cst.Call) and isinstance(changed, cst.Call):
        kept = set(map(id, changed.args))
        gone = [argument for argument in node.args if id(argument) not in kept]
        if len(changed.args) < len(node.args) and any(argument.keyword is None for argument in gone):
            return True
        return any(m.matches(argument.value, WORDS) for argument in gone)
    return False


def _left_out(node: cst.Match, changed: cst.Match) -> cst.MatchCase:
    kept = set(map(id, changed.cases))
    return next(case for case in node.cases if id(case) not in kept)


OPERATORS: Sequence[tuple[Any, Operator]] = [
    *(entry for entry in mutation_operators if entry[1] is not operator_string),
    (cst.If, negated_condition),
    (cst.While, negated_condition),
    (cst.SimpleStatementLine, call_left_out),
]


class _Replacement(cst.CSTTransformer):
    def __init__(self, node: cst.CSTNode, changed: cst.CSTNode) -> None:
        super().__init__()
        self.node, self.changed = node, changed

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node is not self.node

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        return self.changed if original_node is self.node else updated_node


def _changed(module: cst.Module, node: cst.CSTNode, changed: cst.CSTNode) -> str:
    return cst.ensure_type(module.visit(_Replacement(node, changed)), cst.Module).code


def _code(module: cst.Module, node: cst.CSTNode) -> str:
    if isinstance(node, cst.BaseCompoundStatement) and isinstance(
        getattr(node, "body", None), cst.IndentedBlock
    ):
        node = node.with_changes(body=cst.SimpleStatementSuite([cst.Expr(cst.Ellipsis())]), leading_lines=[])
    elif isinstance(node, cst.SimpleStatementLine):
        node = node.with_changes(leading_lines=[])
    return module.code_for_node(node)
