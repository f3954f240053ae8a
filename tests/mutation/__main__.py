"""Puts small faults into the code, one at a time, and counts how many the tests find out.

A fault (a mutant) that no test notices shows what nothing holds: the code could be wrong in that way. Each is put to
the tests that run its lines, in a sandbox, on a copy of the checkout, with at most 40 s of tests; one that lives
is put to mypy too. What is known stays in .mutants: a run that was interrupted goes on where it was, a mutant that
lived is tried again once the project or its tests have changed, one that was killed once its module has.

  scripts/mutate                              every mutant of pm, daemon, hosts and workspaces: days
  scripts/mutate --sample 150 --seed 1 pm     150 of pm, drawn at random: a quarter of an hour
  scripts/mutate pm/handlers/run_lifecycle.py                  every mutant of a module
  scripts/mutate --sample 150 --seed 1 pm --show
                                              those of that sample that live, as diffs; nothing is run
  scripts/mutate --mutant 1b775f8d78          this one again (its name stands in the diff)

What lives is a gap: write the test that is missing. Or it is no fault at all: then say why, in
tests/mutation/explained.toml.

Exit status: 0 if the share that was killed reaches --least in every package, 1 if not, or if an explanation is stale,
2 if nothing could be tried.
"""

from __future__ import annotations

import argparse
import fcntl
import random
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from tests.mutation import report, sandbox, trial
from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.selection import LAYERS, Chosen, clean_run, fingerprint, python_files
from tests.mutation.trial import LIVING, Result, Verdict

PACKAGES = ("pm", "daemon", "hosts", "workspaces")
RESULTS = sandbox.KEPT / "results.jsonl"


def main(arguments: Sequence[str] | None = None) -> int:
    """Try mutants and print what became of them.

    Returns:
        The exit status, as the help tells it.
    """
    options = _parser().parse_args(arguments)
    try:
        with _alone():
            sandbox.refresh_tree()
            return _work(options)
    except (sandbox.Unusable, report.Stale) as error:
        print(f"scripts/mutate: {error}", file=sys.stderr)
        return 1 if isinstance(error, report.Stale) else 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "modules",
        nargs="*",
        default=PACKAGES,
        metavar="MODULE",
        help="packages or modules below orchestrator/",
    )
    parser.add_argument(
        "--sample", type=int, metavar="N", help="try N mutants of each MODULE, drawn at random"
    )
    parser.add_argument("--seed", type=int, default=0, help="draws the sample (0)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    parser.add_argument(
        "--mutant", nargs="+", default=[], metavar="NAME", help="try these again, and nothing else"
    )
    parser.add_argument("--show", action="store_true", help="show those that live as diffs, and try nothing")
    parser.add_argument("--no-types", action="store_true", help="do not put those that live to mypy")
    parser.add_argument(
        "--least", type=float, default=90.0, metavar="PERCENT", help="the share to reach (90)"
    )
    return parser


def _work(options: argparse.Namespace) -> int:
    there = {name: _mutants(name) for name in options.modules}
    entries = report.explanations()
    by_module = {path: _mutants(path) for path in set(entries.values())}
    drawn = {name: _drawn(mutants, options) for name, mutants in there.items()}
    results, outdated = _kept()
    wanted = {mutant.name: mutant for mutants in drawn.values() for mutant in mutants}
    if not options.show:
        results |= _tried(
            [
                mutant
                for mutant in wanted.values()
                if options.mutant or mutant.name not in results or mutant.name in outdated
            ],
            options,
        )
    of_these = {name: result for name, result in results.items() if name in wanted}
    if options.show:
        for mutant in wanted.values():
            if (
                mutant.name in of_these
                and of_these[mutant.name].verdict in LIVING
                and mutant.name not in entries
            ):
                print(report.shown(mutant, _text(mutant.path), of_these[mutant.name]), end="\n\n")
    print(report.table(there, of_these, entries))
    report.check_explanations(entries, by_module, of_these)
    failed = [result for result in of_these.values() if result.verdict is Verdict.ERROR]
    for result in failed:
        print(f"{result.mutant} ({result.path}) could not be tried: {result.by}", file=sys.stderr)
    shares = [report.counted(mutants, of_these, entries).share for mutants in drawn.values()]
    return 0 if not failed and all(share * 100 >= options.least for share in shares) else 1


def _mutants(name: str) -> list[Mutant]:
    """Give the mutants of a package or a module.

    Raises:
        Unusable: if there is none of that name.
    """
    relative = Path("orchestrator") / name.removeprefix("orchestrator/")
    place = sandbox.TREE / relative
    files = [place] if place.is_file() else sorted(python_files(str(relative)))
    if not files:
        raise sandbox.Unusable(f"there is no package or module orchestrator/{name}")
    paths = [path.relative_to(sandbox.TREE).as_posix() for path in files]
    return [mutant for path in paths for mutant in mutants_of(path, _text(path))]


def _text(path: str) -> str:
    return (sandbox.TREE / path).read_text("utf-8")


def _drawn(mutants: Sequence[Mutant], options: argparse.Namespace) -> Sequence[Mutant]:
    if options.mutant:
        return [mutant for mutant in mutants if mutant.name in options.mutant]
    if options.sample is None or options.sample >= len(mutants):
        return mutants
    return random.Random(options.seed).sample(mutants, options.sample)


def _kept() -> tuple[dict[str, Result], set[str]]:
    """Read what is known of today's mutants, and which of them lived before the project or its tests were changed.

    These count as alive until they are tried again.
    """
    suite = _suite()
    modules: dict[str, str] = {}
    found: dict[str, Result] = {}
    for line in RESULTS.read_text("utf-8").splitlines() if RESULTS.exists() else ():
        result = Result.read(line)
        if result.path not in modules:
            modules[result.path] = _module(result.path)
        found.pop(result.mutant, None)
        if result.module == modules[result.path] and result.verdict is not Verdict.ERROR:
            found[result.mutant] = result
    lived = {name for name, result in found.items() if result.verdict in LIVING and result.suite != suite}
    return found, lived


def _module(path: str) -> str:
    place = sandbox.TREE / path
    return fingerprint([place]) if place.exists() else ""


def _suite() -> str:
    return fingerprint(python_files("orchestrator", *LAYERS))


def _tried(mutants: Sequence[Mutant], options: argparse.Namespace) -> Mapping[str, Result]:
    """Try mutants, and keep what became of each as soon as it is known."""
    if not mutants:
        return {}
    clean = clean_run(options.jobs)
    if not options.no_types:
        trial.fill_types_cache()
    suite = _suite()
    found: dict[str, Result] = {}

    sound: set[str] = set()

    def held_up(mutant: Mutant, by: str) -> bool:
        """Tell whether the test that failed passes without the fault; if not, it is asked no more."""
        if by not in sound and by in clean.seconds:
            if not trial.passes_unchanged(mutant, Chosen((by,), clean.seconds[by])):
                clean.failed.add(by)
                return False
            sound.add(by)
        return True

    def one(mutant: Mutant) -> Result:
        began = time.monotonic()
        chosen = clean.chosen(mutant)
        verdict, by = trial.tried(mutant, chosen, types=not options.no_types)
        while verdict is Verdict.KILLED and not held_up(mutant, by):
            chosen = clean.chosen(mutant)
            verdict, by = trial.tried(mutant, chosen, types=not options.no_types)
        took = round(time.monotonic() - began, 1)
        return Result(
            mutant.name, mutant.path, verdict, by, len(chosen.tests), took, _module(mutant.path), suite
        )

    with ThreadPoolExecutor(options.jobs) as pool, RESULTS.open("a", encoding="utf-8") as kept:
        # By their names, which is at random: what is known halfway is a sample too.
        trials = [pool.submit(one, mutant) for mutant in sorted(mutants, key=lambda mutant: mutant.name)]
        try:
            for done in as_completed(trials):
                result = done.result()
                found[result.mutant] = result
                kept.write(f"{result.line()}\n")
                kept.flush()
                print(
                    f"{len(found)}/{len(mutants)} {result.mutant} {result.path}: {result.verdict} {result.by[:90]}",
                    flush=True,
                )
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return found


@contextmanager
def _alone() -> Iterator[None]:
    """Let nobody else use the copy meanwhile."""
    sandbox.KEPT.mkdir(exist_ok=True)
    with (sandbox.KEPT / "lock").open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise sandbox.Unusable(f"another scripts/mutate works in {sandbox.KEPT}: wait for it") from None
        for left in sandbox.KEPT.glob("??????????-*"):  # of trials that were cut off
            shutil.rmtree(left)
        yield


if __name__ == "__main__":
    sys.exit(main())
