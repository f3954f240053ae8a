"""Where captured screens and events are kept: `tests/fixtures/clis/CLI/NAME.txt` and `.json`."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from tests.clis.bench import Bench, Pane
from tests.polling import wait_until

FIXTURES: Final = Path(__file__).parent.parent / "fixtures" / "clis"


STILL: Final = 4  # looks, a fifth of a second apart
LONG: Final = 600  # characters


def shortened(value: Any) -> Any:
    """Return JSON without its long texts: prompts of a CLI's own, which are its vendor's and no event."""
    match value:
        case str() if len(value) > LONG:
            return f"{value[:80]}… ({len(value)} characters)"
        case dict():
            return {name: shortened(each) for name, each in value.items()}
        case list():
            return [shortened(each) for each in value]
        case _:
            return value


@dataclass(frozen=True, slots=True)
class Album:
    """The captures of one CLI. Where a bench happened to be is called `/bench` in them, the cache `/clis`."""

    folder: Path

    def screen(self, name: str, pane: Pane, bench: Bench) -> str:
        """Keep what a pane shows once it is at rest, or what it shows after a while of motion, and return it."""
        looks = [pane.screen()]

        def is_still() -> bool:
            looks.append(pane.screen())
            return len(looks) > STILL and len(set(looks[-STILL:])) == 1

        with suppress(AssertionError):
            wait_until(is_still, within=3.0, every=0.2)
        shown = looks[-1]
        self._keep(f"{name}.txt", shown.rstrip() + "\n", bench)
        return shown

    def event(self, name: str, event: Any, bench: Bench) -> None:
        """Keep one event, or a list of them."""
        self._keep(f"{name}.json", json.dumps(shortened(event), indent=1, ensure_ascii=False) + "\n", bench)

    def measured(self, name: str, bench: Bench) -> None:
        """Keep how often the model was asked, with what pauses (s), and what the CLI told of itself meanwhile."""
        times = [each.at for each in bench.server.turns]
        found = {
            "requests": len(times),
            "pauses": [round(after - before, 1) for before, after in pairwise(times)],
            "events": [bench.driver.kind(each) for each in bench.events()],
            "left behind": bench.left(),
            "last prompt": bench.server.turns[-1].prompt,
        }
        self.event(f"measured_{name}", found, bench)

    def _keep(self, name: str, text: str, bench: Bench) -> None:
        root = str(bench.place.root)
        for found, kept in (
            (str(bench.place.cache), "/clis"),
            (root, "/bench"),
            (root.replace("/", "-").replace("_", "-"), "-bench"),
        ):
            text = text.replace(found, kept)
        # A screen may show no more than the path's beginning, or its last name.
        text = re.sub(r"/tmp/clis-\w*", "/bench", text).replace(bench.place.root.name, "bench")
        text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8000", text)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, "utf-8")
