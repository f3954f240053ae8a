"""What is to be done with one file of a mirror: pure, three-sided, and never a deletion (law 11)."""

from __future__ import annotations

from enum import StrEnum


class Deed(StrEnum):
    """What is done here about one name."""

    NOTHING = "nothing"
    BRING = "bring"
    KEEP_AND_BRING = "keep_and_bring"  # what lies here is put under another name first, and that is told


def deed(base: str | None, here: str | None, there: str | None) -> Deed:
    """Return what is done about a name, by the digests of its content; None where there is no such file.

    `base` is what was brought last, `here` what lies in the task's folder, `there` what the box has now.
    """
    if there is None or there in {base, here}:
        # Gone there, no news from there, or the same already: what lies here stays, or stays away.
        return Deed.NOTHING
    if here is None or here == base:
        return Deed.BRING
    return Deed.KEEP_AND_BRING


def kept_name(name: str, number: int) -> str:
    """Return the name under which a file here is kept when the box has another: `a.md` becomes `a.kept-1.md`."""
    stem, dot, ending = name.rpartition(".")
    return f"{stem}.kept-{number}.{ending}" if dot and stem else f"{name}.kept-{number}"
