"""The questions of a task, and of them those that are open."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from orchestrator.model.question import Question
from orchestrator.pm.state.persistent_map import PersistentMap


class Questions(PersistentMap[str, Question]):
    """A task's questions by id, in the order in which they were asked. open: those that wait for an answer."""

    __slots__ = ("open",)

    open: dict[str, Question]

    def __init__(self, questions: Iterable[Question] = ()) -> None:
        by_id = {question.id: question for question in questions}
        super().__init__(by_id)
        self.open = {question.id: question for question in by_id.values() if question.open}

    def with_question(self, question: Question) -> Self:
        """Return a copy with one question set."""
        copy = self.with_entry(question.id, question)
        if question.open:
            copy.open = {**self.open, question.id: question}
        else:
            copy.open = {each: still for each, still in self.open.items() if each != question.id}
        return copy

    def _copy(self) -> Self:
        copy = super()._copy()
        copy.open = self.open
        return copy
