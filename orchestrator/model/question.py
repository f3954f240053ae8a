"""Questions: what only somebody else can answer (law 10)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """Something that a person must say. It holds up `step` and what needs that step, and nothing else."""

    id: str
    step: str
    text: str
    options: tuple[str, ...]
    asked_at: float
    answer: str = ""
    answered_at: float | None = None

    @property
    def open(self) -> bool:
        """True until it is answered."""
        return self.answered_at is None
