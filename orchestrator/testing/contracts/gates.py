"""What every gate must do."""

from __future__ import annotations

from orchestrator.formats.markdown_report import read, write
from orchestrator.model.handoff import Report
from orchestrator.model.plan import Step
from orchestrator.model.task import Phase
from orchestrator.pm.policies.gates import GateKind
from orchestrator.pm.state.task_state import PMState

LIMIT = 1 << 20


class GateContract:
    """Subclass it, and set the gate, a report that it accepts, and one that it does not, None if there is none."""

    gate: GateKind
    good: Report
    bad: Report | None
    step = Step("work", "dev", "Work", "Do it", Phase.DEVELOPING)

    def test_good_report_passes(self) -> None:
        """It finds nothing wrong with a good report."""
        found = self.gate.judge(self.step, self.good)
        assert not (found.again or found.rejected)

    def test_bad_report_is_answered_with_a_reason(self) -> None:
        """A report that it does not accept is written again, or the work is rejected, for a reason that can be read."""
        if self.bad is None:
            return
        found = self.gate.judge(self.step, self.bad)
        assert bool(found.again.strip()) != bool(found.rejected.strip())

    def test_it_is_pure(self) -> None:
        """The same report gets the same judgement, and a step is held or not for the same state."""
        assert self.gate.judge(self.step, self.good) == self.gate.judge(self.step, self.good)
        state = PMState()
        assert self.gate.holds(state, self.step) == self.gate.holds(state, self.step)

    def test_sections_come_through_a_file(self) -> None:
        """What it reads in a report is still there after the report was written to a file and read again."""
        data = write("dev", 0.0, self.good)
        again = read(data, "dev-20260101-120000.md", LIMIT, self.gate.sections)
        assert self.gate.judge(self.step, again) == self.gate.judge(self.step, self.good)

    def test_form_names_its_sections(self) -> None:
        """What an agent reads about this gate names each section that the gate reads."""
        for title in self.gate.sections:
            assert title.casefold() in self.gate.form.casefold()
