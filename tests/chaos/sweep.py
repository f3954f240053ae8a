"""Sweeps over kills at every moment of a run and over every fault that this machine can bring about: a table.

`python -m tests.chaos.sweep` is `scripts/chaos`. The tests beside this file take a sample of the same.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence

from tests.chaos.catalogue import FAULTS, Fault
from tests.chaos.far import far_kills
from tests.chaos.kills import kills
from tests.chaos.trial import HEADING, Way, tried
from tests.integration.daemon import world


def main(words: Sequence[str] | None = None) -> int:
    options = _options(words)
    world.PATIENCE = options.patience or world.PATIENCE
    began, bad, tries = time.monotonic(), 0, 0
    say(HEADING)
    reasons: list[str] = []
    for name, ways in _chosen(options):
        if options.row and not any(words in name for words in options.row):
            continue
        row = tried(name, ways, options.at_once)
        say(row)
        bad += row.bad
        tries += row.tries
        reasons += [f"skipped, {name}: {reason} ({times} tries)" for reason, times in row.reasons.items()]
        for story in row.stories if options.stories else ():
            say(story)
    say(f"\n{tries} tries, {bad} bad, {time.monotonic() - began:.0f} s")
    for reason in reasons:
        say(reason)
    if options.elsewhere:
        for fault in FAULTS:
            if fault.elsewhere:
                say(f"not here, {fault.name} ({fault.row}): {fault.elsewhere}")
    return 1 if bad else 0


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/chaos", description=__doc__)
    parser.add_argument("--stride", type=int, default=1, help="take each Nth moment only (default: all)")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="how many runs at once")
    parser.add_argument(
        "--patience", type=float, help="seconds until a try is stuck (25; a busy machine needs more)"
    )
    parser.add_argument(
        "--row",
        action="append",
        metavar="TEXT",
        help="only rows whose name has this in it; may be given again",
    )
    parser.add_argument("--stories", action="store_true", help="tell the whole story of each bad try")
    parser.add_argument("--list", action="store_true", help="name the faults and end")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--kills", action="store_true", help="sweep over the kills only")
    which.add_argument("--boxes", action="store_true", help="sweep over the calls to a box only")
    which.add_argument("--faults", nargs="*", metavar="NAME", help="bring these faults about, or all of them")
    options = parser.parse_args(words)
    known = {fault.name: fault for fault in FAULTS}
    if options.list:
        for fault in FAULTS:
            say(f"{fault.name:22} {len(fault.ways):3} ways  {fault.row}")
        parser.exit()
    if wrong := [name for name in options.faults or () if name not in known]:
        parser.error(f"there is no fault {wrong[0]}; there are: {', '.join(known)}")
    options.elsewhere = options.faults is None and not options.kills and not options.boxes
    options.faults = [known[name] for name in options.faults or known]
    return options


def _chosen(options: argparse.Namespace) -> Iterator[tuple[str, Sequence[Way]]]:
    all_of_them = options.elsewhere
    if options.kills or all_of_them:
        yield from kills(options.stride)
    if options.boxes or all_of_them:
        yield from far_kills(options.stride)
    if not options.kills and not options.boxes:
        faults: list[Fault] = options.faults
        yield from ((fault.name, fault.ways) for fault in faults if fault.ways)


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
