"""Where captured screens and events are kept: `tests/fixtures/clis/CLI/NAME.txt` and `.json`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from tests.clis.bench import Bench, Pane

FIXTURES: Final = Path(__file__).parent.parent / "fixtures" / "clis"


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
    """The captures of one CLI. The place that a bench happened to have is called `/bench` in them."""

    folder: Path

    def screen(self, name: str, pane: Pane, bench: Bench) -> str:
        """Keep what a pane shows, and return it."""
        shown = pane.screen()
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
            "last message": [list(each.texts) for each in bench.server.turns[-1].messages[-1:]],
        }
        self.event(f"measured_{name}", found, bench)

    def _keep(self, name: str, text: str, bench: Bench) -> None:
        root = str(bench.place.root)
        for found, kept in ((root, "/bench"), (root.replace("/", "-").replace("_", "-"), "-bench")):
            text = text.replace(found, kept)
        text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8000", text)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, "utf-8")
