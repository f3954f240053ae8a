"""What runs do, from the transcripts of their programs: read as they grow, and journaled where it matters (law 9).

None of this is stored: after a restart the transcripts are read again, with the same result.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from orchestrator.daemon.ingest.transcripts import Line
from orchestrator.formats.redact import redacted
from orchestrator.formats.text import neutral
from orchestrator.model.activity import Activity
from orchestrator.model.run import Run
from orchestrator.pm.state.tracing import Trace
from orchestrator.runtimes import Runtime, Traced


@dataclass(slots=True)
class TranscriptActivity:
    """The activity of one task's live runs."""

    _traces: dict[str, tuple[str, Trace]] = field(default_factory=dict)

    def take(self, run: Run, runtime: Runtime, lines: Sequence[Line]) -> None:
        """Read new lines of the transcript of a run."""
        if not isinstance(runtime, Traced):
            return
        known, trace = self._traces.get(run.id, ("", None))
        if trace is None or known != run.transcript:
            trace = Trace()
        for line in lines:
            for record in runtime.records(line.data):
                trace.take(record, line.at)
        self._traces[run.id] = run.transcript, trace

    def of(self, run: Run) -> Activity:
        """Return what is known of a run. Its calls are shown without secrets."""
        _, trace = self._traces.get(run.id, ("", None))
        if trace is None:
            return Activity()
        seen = trace.activity(run.cautioned_at)
        return replace(seen, tool=_shown(seen.tool), repeated=_shown(seen.repeated))

    def novel(self) -> dict[str, float]:
        """Return when a call of each run last brought a new result, for runs whose transcripts can be read."""
        seen = {run: trace.activity() for run, (_, trace) in self._traces.items()}
        return {run: each.novel_at for run, each in seen.items() if each.records}

    def keep(self, runs: Collection[str]) -> None:
        """Forget all runs but these."""
        for gone in self._traces.keys() - set(runs):
            del self._traces[gone]

    def forget(self) -> None:
        """Forget everything that was read."""
        self._traces.clear()


def _shown(words: str) -> str:
    return redacted(neutral(words))
