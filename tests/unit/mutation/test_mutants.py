"""Which faults are put into a module."""

import ast

from tests.mutation.mutants import Mutant, mutants_of

MODULE = '''"""Words."""
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from x import Y

LEAST: int = 3


@dataclass(frozen=True)
class Thing:
    size: int | None = 1

    @property
    def fits(self) -> bool:
        return self.size is not None and self.size <= LEAST


def act(thing: Thing, log: list[str]) -> None:
    if thing:
        log.append(thing.name)
    match thing:
        case 1:
            refuse("it is one")
        case 2:
            save(thing, sync=True)
        case _ as never:
            assert_never(never)
'''


def changes(text: str = MODULE) -> list[tuple[str, str]]:
    return [(mutant.before.strip(), mutant.after.strip()) for mutant in mutants_of("orchestrator/m.py", text)]


def by_change(before: str, after: str) -> Mutant:
    (found,) = (
        mutant
        for mutant in mutants_of("orchestrator/m.py", MODULE)
        if (mutant.before.strip(), mutant.after.strip()) == (before, after)
    )
    return found


def test_each_mutant_is_a_program_that_differs():
    mutants = mutants_of("orchestrator/m.py", MODULE)
    sources = [mutant.source() for mutant in mutants]
    assert MODULE not in sources
    assert len(set(sources)) == len(sources)
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    for source in sources:
        ast.parse(source)


def test_module_level_and_decorated_functions_are_changed():
    assert ("LEAST: int = 3", "LEAST: int = None") in changes()
    assert ("<= LEAST", "< LEAST") in changes()


def test_a_call_made_for_its_effect_is_left_out():
    assert ("save(thing, sync=True)", "pass") in changes()


def test_a_condition_is_negated():
    assert any(after.startswith("if not (thing)") for _, after in changes())


def test_a_keyword_is_left_out_and_a_position_is_not():
    calls = [after for before, after in changes() if before == "save(thing, sync=True)"]
    assert any(after.replace(" ", "") in {"save(thing,)", "save(thing)"} for after in calls)
    assert not any(after.replace(" ", "") == "save(sync=True)" for after in calls)


def test_words_types_and_dataclass_options_are_left_alone():
    after = [after for _, after in changes()]
    assert "refuse(None)" not in after
    assert not any("frozen" in text or "&" in text or "TYPE_CHECKING" in text for text in after)


def test_a_case_that_never_is_stays():
    cases = [after for before, after in changes() if before.startswith("match")]
    assert len(cases) == 2
    assert all("assert_never" in after for after in cases)


def test_lines_are_those_of_the_statement_or_of_its_head():
    assert by_change("<= LEAST", "< LEAST").lines == (17, 17)
    negated = next(m for m in mutants_of("orchestrator/m.py", MODULE) if "not (thing)" in m.after)
    assert negated.lines == (21, 21)


def test_a_name_stays_when_the_statement_moves():
    moved = MODULE.replace("LEAST: int = 3", "LEAST: int = 3\nMOST: int = 5")
    before = {mutant.name for mutant in mutants_of("orchestrator/m.py", MODULE)}
    assert before < {mutant.name for mutant in mutants_of("orchestrator/m.py", moved)}
