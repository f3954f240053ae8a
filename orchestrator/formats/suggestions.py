"""What somebody may have meant by a name that nothing has."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, allowed: Iterable[str]) -> str:
    """Return how a message goes on after a name that is not known."""
    import difflib  # only once something is wrong

    known = sorted(allowed)
    near = difflib.get_close_matches(name, known, n=1)
    return f": did you mean {near[0]}?" if near else f": there are {', '.join(known)}"
