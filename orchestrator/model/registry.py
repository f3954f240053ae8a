"""Registries: the kinds of one thing by name, from this package and from packages that are installed beside it.

A plan family, a gate, a handoff format, a host kind and a runtime are each found by its name in a registry. What ships
is listed where the registry is made; `orchestrator.extensions` adds what other packages bring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from orchestrator.model.errors import Refused
from orchestrator.model.names import checked_name

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """The kinds of one thing by name. Each is made when it is first asked for: most commands need only the names."""

    def __init__(self, what: str, shipped: Mapping[str, Callable[[], T]]) -> None:
        """Begin with what ships.

        Args:
            what: The word for such a thing in messages, as in `plan family`.
            shipped: How each one is made, by name.

        """
        self.what = what
        self._makers = dict(shipped)
        self._made: dict[str, T] = {}
        self._sources: dict[str, str] = {}

    def register(self, name: str, make: Callable[[], T], source: str) -> None:
        """Add one.

        Args:
            name: Its name.
            make: Makes it; called at most once.
            source: The package that it comes from, for messages.

        Raises:
            Refused: the name is taken, or is no name.

        """
        checked_name(name, f"{self.what} name")
        if name in self._makers:
            raise Refused(f"the {self.what} {name} of {source} is ignored: {self.origin(name)} has that name")
        self._makers[name] = make
        self._sources[name] = source

    def unregister(self, name: str) -> None:
        """Remove one that was added. What ships stays."""
        if self._sources.pop(name, None) is not None:
            del self._makers[name]
            self._made.pop(name, None)

    def origin(self, name: str) -> str:
        """Return where one comes from: a package, or `this program`."""
        return self._sources.get(name, "this program")

    @property
    def added(self) -> tuple[str, ...]:
        """The names that other packages brought."""
        return tuple(self._sources)

    def find(self, name: str) -> T:
        """Return one by its name.

        Raises:
            Refused: there is none of that name; the message lists those that there are.

        """
        if name not in self._makers:
            raise Refused(f"there is no {self.what} {name[:40]!a}: there is {', '.join(self._makers)}")
        return self[name]

    def __getitem__(self, name: str) -> T:
        """Return one by its name; raises KeyError."""
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        """Tell whether there is one of that name, without making it."""
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        """Go through the names: what ships first."""
        return iter(self._makers)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._makers)
