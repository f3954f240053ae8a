"""A changed copy is what the standard library makes."""

import dataclasses

import pytest

from orchestrator.model.quick_replace import replace
from orchestrator.model.run import Exit
from orchestrator.model.task import TaskState
from orchestrator.pm.state.task_state import PMState


@dataclasses.dataclass(frozen=True, slots=True)
class One:
    """A single field."""

    value: int = 1


@pytest.mark.parametrize(
    ("instance", "changes"),
    [
        (PMState(), {"state": TaskState.RUNNING, "why": "begun"}),
        (PMState(), {}),
        (Exit(code=1), {"code": 0}),
        (One(), {"value": 2}),
    ],
)
def test_copy_is_what_dataclasses_make(instance, changes):
    before = dataclasses.replace(instance)
    assert replace(instance, **changes) == dataclasses.replace(instance, **changes)
    assert instance == before, "the original is changed"


def test_unknown_field_is_an_error():
    with pytest.raises(KeyError):
        replace(One(), other=1)  # type: ignore[call-arg]
