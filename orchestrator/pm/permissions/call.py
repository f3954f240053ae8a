"""One command at hand: its words, where it may run, and what it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from orchestrator.model.permission import PermissionDecision
from orchestrator.pm.permissions.fields import Field, as_line
from orchestrator.pm.permissions.finding import Case, Finding, built_in, shown
from orchestrator.pm.permissions.paths import granted, inside, resolved
from orchestrator.pm.permissions.scope import Scope


@dataclass(frozen=True, slots=True)
class Call:
    """A program and its words.

    Attributes:
        case: The policy and the workplace that it is judged by.
        name: The name by which the program is known; empty if it is not known.
        fields: All words, the program's first.
        scope: What is known at this point of the script.
        given: The text, with marks, that it reads from standard input; None if it reads nothing or that is unknown.

    """

    case: Case
    name: str
    fields: tuple[Field, ...]
    scope: Scope
    given: str | None = None

    @property
    def rest(self) -> tuple[Field, ...]:
        """The words after the program's name."""
        return self.fields[1:]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the words after the program's name."""
        return tuple(field.text for field in self.fields[1:])

    @property
    def places(self) -> frozenset[str]:
        """The folders in which it may run; an empty string is an unknown folder."""
        return self.scope.places

    @property
    def shown(self) -> str:
        """The command as one line for a message."""
        return shown(as_line(self.fields))

    def allow(self, why: str) -> Finding:
        """Return a finding that allows it; the reason continues after the command."""
        return built_in(PermissionDecision.ALLOW, f"{self.shown} {why}")

    def deny(self, why: str) -> Finding:
        """Return a finding that denies it; the reason continues after the command."""
        return built_in(PermissionDecision.DENY, f"{self.shown} {why}")

    def doubt(self, why: str) -> Finding:
        """Return a finding that a person must decide; the reason continues after the command."""
        return self.case.doubt(f"{self.shown} {why}")

    def of(self, fields: Iterable[Field]) -> Call:
        """Return a call of the same program with other words."""
        return replace(self, fields=(self.fields[0], *fields))

    def paths(self, text: str) -> Iterator[str]:
        """Yield the paths that a text may name in each folder in which the command may run; an empty one is unknown."""
        for place in sorted(self.places):
            yield resolved(text, place)

    def lies_inside(self, field: Field) -> bool:
        """Return whether a word certainly names something in a folder that the run was granted for good."""
        paths = [] if field.tilde else list(self.paths(field.text))
        return bool(paths) and all(path and inside(path, self.case.workplace.grants) for path in paths)

    def at_home(self) -> bool:
        """Return whether it certainly runs in a folder that the run may write."""
        temporary = self.case.workplace.temporary
        return all(place and (place in temporary or granted(self.case, place)) for place in self.places)
