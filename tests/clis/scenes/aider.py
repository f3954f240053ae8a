"""What is captured of aider: screens by tmux, and how it ends."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from tests.clis.album import Album
from tests.clis.answers import Answer, Fault, Hang, Trouble, say
from tests.clis.bench import SEEN, Pane, a_bench
from tests.clis.hands import write
from tests.clis.playing import always, in_turn
from tests.polling import wait_until

ORDER = "Read `this` $HOME:\n!ls\n/clear\n@file\n#note\n-x ünïcödé 🦉 ;"


def rests(pane: Pane) -> bool:
    """Say whether the last line is a prompt and nothing else."""
    return pane.screen().rstrip().endswith("\n>")


def turn(pin: str, album: Album) -> None:
    """One turn by `--message`, which ends the program; and one that is typed."""

    def script(request):
        return write(request, "made.txt", "hi\n") if "made.txt" not in request.prompt else say("Made it")

    with a_bench(pin, script) as bench:
        pane = bench.start(ORDER)
        wait_until(pane.is_dead, within=SEEN)
        album.screen("ended", pane, bench)
        second = bench.start()
        wait_until(lambda: rests(second), within=SEEN, every=0.1)
        album.screen("resting", second, bench)
        second.type("Say yes.")
        second.keys("Enter")
        second.until("(Y)es/(N)o")
        album.screen("dialog_add_file", second, bench)
        album.measured("turns", bench)


def busy(pin: str, album: Album) -> None:
    """Silence before the headers, C-c."""
    with a_bench(pin, in_turn(Hang(), then=always(say("Yes.")))) as bench:
        pane = bench.start()
        wait_until(lambda: rests(pane), within=SEEN, every=0.1)
        pane.type("Wait.")
        pane.keys("Enter")
        wait_until(lambda: bench.server.turns, within=SEEN)
        album.screen("busy", pane, bench)
        pane.keys("C-c")
        pane.until("^C")
        album.screen("interrupted", pane, bench)


def failure(trouble: str, answer: Answer, pin: str, album: Album) -> None:
    """The API fails: how it ends, or what it shows after a minute and a half."""
    with a_bench(pin, always(answer)) as bench:
        pane = bench.start("Try.")
        wait_until(lambda: bench.server.turns, within=SEEN)
        with suppress(AssertionError):  # it may go on
            wait_until(pane.is_dead, within=90)
        album.screen(f"failed_{trouble}", pane, bench)
        album.measured(trouble, bench)


SCENES = {
    "turn": turn,
    "busy": busy,
    "limited": partial(failure, "rate_limit_hour", Fault(Trouble.RATE_LIMITED, retry_after=3600)),
    "overloaded": partial(failure, "overloaded", Fault(Trouble.OVERLOADED)),
    "credit": partial(failure, "credit_gone", Fault(Trouble.CREDIT_GONE)),
    "long": partial(failure, "too_long", Fault(Trouble.TOO_LONG)),
    "unauthorized": partial(failure, "unauthorized", Fault(Trouble.UNAUTHORIZED)),
    "broken": partial(failure, "server_error", Fault(Trouble.SERVER_ERROR)),
}
