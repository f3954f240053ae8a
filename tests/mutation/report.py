"""What the results say: a table for people, and the diffs of the mutants that live."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutants import Mutant
from tests.mutation.trial import DEAD, LIVING, Result, Verdict

EXPLAINED = Path(__file__).with_name("explained.toml")
# Of a normal distribution, for an interval that holds the truth in 95 of 100 samples.
NINETY_FIVE = 1.96
HEAD = (
    "",
    "mutants",
    "tried",
    "killed",
    "by types",
    "endless",
    "alive",
    "untested",
    "explained",
    "share killed",
)


class Stale(Exception):
    """An explanation speaks of a mutant that is not there, or is dead: the message says which."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many mutants of some code there are, and what became of those that were tried."""

    there: int
    verdicts: Counter[Verdict]
    explained: int

    @property
    def dead(self) -> int:
        """How many were found out."""
        return sum(self.verdicts[verdict] for verdict in DEAD)

    @property
    def judged(self) -> int:
        """How many there were to find out: what is explained cannot be, or elsewhere."""
        return self.dead + sum(self.verdicts[verdict] for verdict in LIVING) - self.explained

    @property
    def share(self) -> float:
        """The share found out, between 0 and 1."""
        return self.dead / self.judged if self.judged else 1.0

    def interval(self) -> tuple[float, float]:
        """Give the bounds between which the share of all mutants lies, in 95 of 100 samples (Wilson's)."""
        n = self.judged
        if n == 0 or self.there == sum(self.verdicts.values()):
            return self.share, self.share
        z2 = NINETY_FIVE**2
        middle = (self.share + z2 / (2 * n)) / (1 + z2 / n)
        reach = NINETY_FIVE / (1 + z2 / n) * math.sqrt(self.share * (1 - self.share) / n + z2 / (4 * n * n))
        return max(0.0, middle - reach), min(1.0, middle + reach)

    def row(self, name: str) -> str:
        """Give it as a row of a table."""
        low, high = self.interval()
        bounds = "" if low == high else f" ({low:.1%} to {high:.1%})"
        shown = [
            self.verdicts[v]
            for v in (Verdict.KILLED, Verdict.TYPES, Verdict.ENDLESS, Verdict.ALIVE, Verdict.UNTESTED)
        ]
        cells = [
            name,
            self.there,
            sum(self.verdicts.values()),
            *shown,
            self.explained,
            f"{self.share:.1%}{bounds}" if self.judged else "none was judged",
        ]
        return f"| {' | '.join(map(str, cells))} |"


def counted(mutants: Iterable[Mutant], results: Mapping[str, Result], explained: Iterable[str]) -> Count:
    """Count what became of mutants.

    Args:
        mutants: all that there are.
        results: what became of those that were tried, by name.
        explained: the names of those that may live.
    """
    known = set(explained)
    there = list(mutants)
    tried = [results[mutant.name] for mutant in there if mutant.name in results]
    return Count(
        len(there),
        Counter(result.verdict for result in tried),
        sum(result.mutant in known for result in tried if result.verdict in LIVING),
    )


def explanations(path: Path = EXPLAINED) -> dict[str, str]:
    """Read why which mutants may live, by name.

    Raises:
        Stale: if an entry is there twice or does not say why.
    """
    found: dict[str, str] = {}
    for entry in tomllib.loads(path.read_text("utf-8")).get("mutant", []):
        name = entry["name"]
        if name in found or not entry.get("why"):
            raise Stale(f"{path.name}: {name} is there twice, or says no why")
        found[name] = entry["at"].partition(",")[0]
    return found


def check_explanations(
    entries: Mapping[str, str], mutants: Mapping[str, Sequence[Mutant]], results: Mapping[str, Result]
) -> None:
    """Look whether every explanation is still needed.

    Args:
        entries: the modules of the mutants that are explained, by the mutants' names.
        mutants: by module, at least of every module that is explained something of.
        results: what became of those that were tried.

    Raises:
        Stale: naming all that are not.
    """
    said = []
    for name, path in entries.items():
        if all(mutant.name != name for mutant in mutants.get(path, ())):
            said.append(f"{name} ({path}): there is no such mutant any more")
        elif name in results and results[name].verdict in DEAD:
            said.append(f"{name} ({path}): it is dead ({results[name].by})")
    if said:
        raise Stale(
            f"{EXPLAINED.name} explains what needs no explanation; remove it there:\n  " + "\n  ".join(said)
        )


def table(
    packages: Mapping[str, Sequence[Mutant]], results: Mapping[str, Result], explained: Iterable[str]
) -> str:
    """Give the table: a row for each package, and one for each module below it of which something lives."""
    lines = [f"| {' | '.join(HEAD)} |", f"|{' --- |' * len(HEAD)}"]
    known = set(explained)
    for package, mutants in packages.items():
        lines.append(counted(mutants, results, known).row(package))
        by_module: dict[str, list[Mutant]] = defaultdict(list)
        for mutant in mutants:
            by_module[mutant.path].append(mutant)
        for path, own in by_module.items():
            count = counted(own, results, known)
            if count.dead < count.judged and len(by_module) > 1:
                lines.append(count.row(f"· {path.removeprefix('orchestrator/')}"))
    return "\n".join(lines)


def shown(mutant: Mutant, text: str, result: Result) -> str:
    """Give a mutant as a diff.

    Args:
        mutant: the fault.
        text: of the module without it.
        result: what became of it.
    """
    how = "no test runs it" if result.verdict is Verdict.UNTESTED else f"{result.tests} tests pass"
    diff = difflib.unified_diff(
        text.splitlines(),
        mutant.source().splitlines(),
        mutant.path,
        f"{mutant.name} in {mutant.scope}: {how}",
        "",
        "",
        2,
        "",
    )
    return "\n".join(diff)
