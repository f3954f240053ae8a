"""A soak of seconds: everything happens, ends, and is counted; what grows is judged in longer ones."""

from __future__ import annotations

from tests.soak import soak
from tests.soak.samples import MEASURES, Samples


def test_a_short_soak_ends_well(capsys) -> None:
    words = [
        "--seconds",
        "10",
        "--tasks",
        "2",
        "--agents",
        "4",
        "--pace",
        "2",
        "--often",
        "1.5",
        "--seed",
        "5",
    ]
    code = soak.main(words)
    output = capsys.readouterr().out
    assert code == 0, output
    assert "nothing is lost, doubled or stuck" in output
    assert "agent killed" in output
    assert "daemon: memory" in output


def judged(values: list[float], name: str = "daemon: memory") -> list[str]:
    samples = Samples(None)  # type: ignore[arg-type]  # nothing is sampled here
    samples.at, samples.lives = [float(n) for n in range(len(values))], list(range(len(values)))
    samples.rows = {each: [1.0] * len(values) for each in MEASURES} | {name: values}
    return samples.table()[1]


def test_what_grows_is_named() -> None:
    assert judged([50.0] * 40) == []
    assert judged([20.0] * 10 + [50.0, 60.0] * 15) == [], "it warms up, and stays"
    assert judged([50.0 + 2 * n for n in range(40)]) == ["daemon: memory"]
    assert judged([float(n) for n in range(40)], "journals") == [], "it grows by its nature"
