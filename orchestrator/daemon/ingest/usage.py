"""Tokens and money that runs use, read from the transcripts of their programs (U6).

A transcript is read from the last offset on. In a resumed conversation, lines from before the run are not its usage.
None of this is stored: after a restart the transcript is read again, to the same sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.ingest.transcripts import CLOCKS, grown, time_of_line
from orchestrator.formats.pricing import priced
from orchestrator.model.usage import Read, Usage
from orchestrator.runtimes import Metered

if TYPE_CHECKING:
    from orchestrator.model.prices import Price
    from orchestrator.model.run import Run
    from orchestrator.ports.files import Files
    from orchestrator.runtimes import Runtime


@dataclass(frozen=True, slots=True)
class _Meter:
    """How far a transcript was read; `before` is the usage of earlier runs, `began`: the run's own part was reached."""

    path: str
    read: Read = Read()  # noqa: RUF009 (it is frozen)
    before: Usage = Usage()  # noqa: RUF009 (it is frozen)
    began: bool = False


@dataclass(slots=True)
class UsageMeters:
    """Reads one task's transcripts. Costs that no program reports are estimated by `prices`."""

    files: Files
    prices: tuple[Price, ...] = ()
    _meters: dict[str, _Meter] = field(default_factory=dict)

    def look(self, run: Run, runtime: Runtime) -> Usage:
        """Return what a run has used so far; nothing if its program keeps no transcript, or reports no usage in it.

        If a transcript has not grown, that costs one stat.
        """
        if not run.transcript or not isinstance(runtime, Metered):
            return Usage()
        meter = self._meters.get(run.id)
        if meter is None or meter.path != run.transcript:
            meter = _Meter(run.transcript, began=not run.resumes)
        meter = self._read_on(meter, run, runtime)
        self._meters[run.id] = meter
        used = priced(meter.read.usage.since(meter.before), self.prices) if meter.began else Usage()
        mark = layout.run_transcript_partial(Path(run.transcript).parent)
        return replace(used, partial=run.on_box and self.files.entry(mark) is not None)

    def forget(self, run: str) -> None:
        """Forget a run that is gone."""
        self._meters.pop(run, None)

    def _read_on(self, meter: _Meter, run: Run, runtime: Metered) -> _Meter:
        data = grown(self.files, meter.path, meter.read.offset)
        if not data:
            return meter
        if meter.began:
            return replace(meter, read=runtime.usage(data, meter.read))
        # Here both use one clock; the previous run may have written its last line a moment ago.
        ours = _ours(data, run.opened_at - (CLOCKS if run.on_box else 0.0))
        read = runtime.usage(data[:ours], meter.read)
        if ours == len(data):
            return replace(meter, read=read)
        # Usage of earlier runs without a reported cost belongs to them.
        mine = replace(read, usage=replace(read.usage, models=()))
        return replace(meter, read=runtime.usage(data[ours:], mine), before=read.usage, began=True)


def _ours(data: bytes, opened_at: float) -> int:
    """Return the offset of the first line that was written since a run was opened; the end if there is none."""
    place = 0
    for line in data.splitlines(keepends=True):
        if opened_at <= time_of_line(line) < math.inf:
            return place
        place += len(line)
    return place
