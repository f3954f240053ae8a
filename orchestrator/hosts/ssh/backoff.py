"""How long a box that did not answer is left alone. One count per box, however many agents work there."""

from __future__ import annotations

from typing import Final

FIRST: Final = 1.0
"""Seconds of the first pause at most."""

MOST: Final = 60.0
"""Seconds of any pause at most: that late at worst is it known that a box is back."""

_DOUBLINGS: Final = 16  # beyond it the pause is MOST anyhow, and the power would only grow


def pause(failures: int, luck: float) -> float:
    """Return how many seconds to wait after so many failures in a row; 0 after none.

    It doubles, and is shortened by up to a half by `luck`, from 0 to 1: a network that comes back is not
    stormed by every box's link in the same moment (law 8).
    """
    if failures <= 0:
        return 0.0
    longest = min(MOST, FIRST * 2.0 ** min(failures - 1, _DOUBLINGS))
    return longest * (1 - luck / 2)
