"""Which skills an order names: requested ones, those that fill a gap, those that suit the step; no others (H12)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import Gate
from orchestrator.model.task import Phase

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orchestrator.model.plan import Step
    from orchestrator.model.skills import Skill
    from orchestrator.pm.state.task_state import PMState

MOST: Final = 5
"""How many skills that nobody requested an order names: more would fill an agent's context needlessly."""

OWN: Final = frozenset({"agent-workflow", "composite-skills", "multi-agent"})
"""The skills about this program; an order already contains what an agent needs of them."""

GAP_LENGTH: Final = 800

_LONG: Final = 5  # `bus` and `dds` are no plurals: too short
_WORD: Final = re.compile(r"[a-z0-9]{3,}")
_OF_NAME, _OF_DESCRIPTION = 3, 1
_SUITS, _FILLS = 3, 2
"""The weights of a word of a skill's name and description, and of what suits a step or fills a gap."""

_COMMON: Final = frozenset(
    _WORD.findall("""
    about access add added adding after agent agents all also and any are ask asked asks available based because been
    before being best between both build but can change changes check code coding common context could create
    creating current data design dev develop different doc does done each either else ensure every example explore
    file files find fix for form format from function general get give given gives good guide has have help helps
    how implement implementing into its keep know like line look make making may more most must name need needed
    needs new none not now off one only other our out over own part path pattern patterns plan planning practices
    project provide provides read repository report review reviewing right run running same see set should show
    similar skill skills some specific step steps such support system task tasks tell test testing tests than that
    the their them then there these they thing things this through time tool tools two under update use used useful
    user users uses using various very was way well were what when where whether which while who whole why will with
    within without work working works would write writing you your
    """)
)
"""Words that say nothing about a skill's purpose."""


def skills_for(state: PMState, step: Step) -> tuple[str, ...]:
    """Return the names of the skills for a step's order: without duplicates, and the same for the same state."""
    config = state.brief.config
    overrides = config.agents.get(step.agent)
    said = step.directive.skills if step.directive else ()
    asked = (*config.skills, *(overrides.skills if overrides else ()), *said)
    text = f"{step.title}\n{step.instructions}\n{state.brief.goal if _is_about_the_goal(state, step) else ''}"
    others = (*filling(state.skills, step.gap), *_best(state.skills, text, _SUITS))
    fresh = [name for name in dict.fromkeys(others) if name not in asked]
    return (*dict.fromkeys(asked), *fresh[:MOST])


def _is_about_the_goal(state: PMState, step: Step) -> bool:
    """Return whether a step has the whole goal as its order, which stands in the context: it looks around, or plans."""
    if state.brief.workflow is not None:
        return False
    return Gate.HANDOFF in step.gates or step.phase in {Phase.EXPLORING, Phase.PLANNING}


def filling(skills: Sequence[Skill], gap: str) -> tuple[str, ...]:
    """Return the skills that may fill a gap, the best match first."""
    return _best(skills, gap, _FILLS) if gap else ()


def where_they_lie(state: PMState, names: Iterable[str]) -> list[str]:
    """Return a line with the path of each named skill that was found, for agents whose CLI does not know it."""
    found = {skill.name: skill.path for skill in state.skills}
    return [f"- skill {name}: {found[name]}" for name in names if name in found]


def _best(skills: Sequence[Skill], text: str, enough: int) -> tuple[str, ...]:
    if not skills:
        return ()
    words, whole = _words(text), f"-{'-'.join(_WORD.findall(text.lower()))}-"
    weighed = [(_weight(skill, words, whole), skill.name) for skill in skills if skill.name not in OWN]
    fitting = sorted((-weight, name) for weight, name in weighed if weight >= enough)
    return tuple(name for _, name in fitting[:MOST])


def _weight(skill: Skill, words: frozenset[str], whole: str) -> int:
    """Return how well a skill suits a text. Its full name in the text suffices, however common its words are."""
    named = "-".join(_WORD.findall(skill.name))
    if named and f"-{named}-" in whole and ("-" in named or named not in _COMMON):
        return _SUITS + _OF_NAME
    of_name = _words(skill.name)
    return _OF_NAME * len(of_name & words) + _OF_DESCRIPTION * len(
        (_words(skill.description) - of_name) & words
    )


@lru_cache(maxsize=512)
def _words(text: str) -> frozenset[str]:
    """Return the meaningful words of a text, in the singular: `tests` becomes `test`."""
    found = frozenset(_WORD.findall(text.lower())) - _COMMON
    return frozenset(_singular(word) for word in found)


def _singular(word: str) -> str:
    return word[:-1] if len(word) >= _LONG and word.endswith("s") and not word.endswith("ss") else word
