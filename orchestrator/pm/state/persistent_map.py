"""Tables that are never changed in place: a changed copy shares almost everything with the original."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from typing import Final, Self, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")

CHUNK: Final = 64
"""How many entries are copied when one of them changes. Measured: from 32 to 128 it makes no difference."""


class PersistentMap(Mapping[K, V]):
    """Entries in the order in which their keys came first; a key keeps its place, and is never removed.

    A copy with one entry changed costs the square root of the size, not the size: a task of 3,000 steps decides as
    fast as one of ten. It uses two levels of plain tuples and dictionaries: a tree of our own would be deeper and, in
    Python, slower.
    """

    __slots__ = ("_chunks", "_places", "_size")

    _chunks: tuple[tuple[tuple[K, V], ...], ...]
    _places: tuple[dict[K, int], ...]
    _size: int

    def __init__(self, entries: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        pairs = list(dict(entries).items())
        self._chunks = tuple(tuple(pairs[at : at + CHUNK]) for at in range(0, len(pairs), CHUNK))
        self._places = _spread({key: place for place, (key, _) in enumerate(pairs)}, 1)
        self._size = len(pairs)

    # Reading --------------------------------------------------------------------------------------

    def __getitem__(self, key: K) -> V:
        places = self._places
        place = places[hash(key) & (len(places) - 1)][key]
        return self._chunks[place // CHUNK][place % CHUNK][1]

    @overload
    def get(self, key: K) -> V | None: ...
    @overload
    def get(self, key: K, default: D) -> V | D: ...
    def get(self, key: K, default: D | None = None) -> V | D | None:
        """Return the value of a key, or `default`."""
        places = self._places
        place = places[hash(key) & (len(places) - 1)].get(key)
        return default if place is None else self._chunks[place // CHUNK][place % CHUNK][1]

    def __contains__(self, key: object) -> bool:
        return key in self._places[hash(key) & (len(self._places) - 1)]

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[K]:
        return (key for chunk in self._chunks for key, _ in chunk)

    def values(self) -> ValuesView[V]:
        """Return the values in order; iterating over them looks up no keys."""
        return _Values(self)

    def items(self) -> ItemsView[K, V]:
        """Return the entries in order, likewise."""
        return _Items(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PersistentMap) and self._chunks == other._chunks:
            return True
        return dict(self) == dict(other) if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as any mapping that is compared by its content

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})"

    @property
    def chunks(self) -> tuple[tuple[tuple[K, V], ...], ...]:
        """Return the entries in order, in chunks; a changed copy shares each unchanged chunk with the original."""
        return self._chunks

    def place(self, key: K) -> int:
        """Return the position of a key among all keys, from 0. Raises KeyError."""
        return self._places[hash(key) & (len(self._places) - 1)][key]

    def placed(self, place: int) -> V:
        """Return the value of the key at a position."""
        return self._chunks[place // CHUNK][place % CHUNK][1]

    # Changed copies -------------------------------------------------------------------------------

    def with_entry(self, key: K, value: V) -> Self:
        """Return a copy with one entry set."""
        copy = self._copy()
        place = self._places[hash(key) & (len(self._places) - 1)].get(key)
        if place is None:
            copy._add(key, value)
        else:
            number, within = divmod(place, CHUNK)
            chunks, chunk = self._chunks, self._chunks[number]
            chunk = (*chunk[:within], (key, value), *chunk[within + 1 :])
            copy._chunks = (*chunks[:number], chunk, *chunks[number + 1 :])
        return copy

    def _copy(self) -> Self:
        """Return a copy that nobody else refers to yet."""
        copy = object.__new__(type(self))
        copy._chunks, copy._places, copy._size = self._chunks, self._places, self._size
        return copy

    def _add(self, key: K, value: V) -> None:
        """Add a key at the end. Only for a copy that nobody else refers to yet."""
        chunks, size = self._chunks, self._size
        if size % CHUNK:
            self._chunks = (*chunks[:-1], (*chunks[-1], (key, value)))
        else:
            self._chunks = (*chunks, ((key, value),))
        places = self._places
        if size == len(places) ** 2:
            places = _spread({key: place for part in places for key, place in part.items()}, 2 * len(places))
        number = hash(key) & (len(places) - 1)
        self._places = (*places[:number], {**places[number], key: size}, *places[number + 1 :])
        self._size = size + 1


class _Values(ValuesView[V]):
    _mapping: PersistentMap[object, V]

    def __iter__(self) -> Iterator[V]:
        return (value for chunk in self._mapping.chunks for _, value in chunk)


class _Items(ItemsView[K, V]):
    _mapping: PersistentMap[K, V]

    def __iter__(self) -> Iterator[tuple[K, V]]:
        return (entry for chunk in self._mapping.chunks for entry in chunk)


def _spread(places: dict[K, int], least: int) -> tuple[dict[K, int], ...]:
    """Return the positions of keys, split by hash into a power of two of parts, about as many as each part holds."""
    parts = least
    while parts**2 < len(places):
        parts *= 2
    spread: tuple[dict[K, int], ...] = tuple({} for _ in range(parts))
    for key, place in places.items():
        spread[hash(key) & (parts - 1)][key] = place
    return spread
