"""What a request is about, and which skill it is for: by counted words, so that a user can see why (S2).

| confidence | of a domain | of a skill |
| --- | --- | --- |
| CERTAIN | two hits at least, none elsewhere | its name is said, or the same |
| LIKELY | more hits than any other | the same |
| UNSURE | as many as another, or none | the same |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from orchestrator.model.composite import (
    Classified,
    CompositeSkill,
    Confidence,
    Domain,
    DomainRules,
    SkillMatch,
)
from orchestrator.pm.plan.composite.phrases import hits

USUAL: Final = Domain.TECHNICAL
"""The domain of a request of which no rule says anything, for a skill that names none."""

_SURE: Final = 2
_T = TypeVar("_T", bound=str)


def classify(request: str, rules: DomainRules, usual: Domain | None = None) -> Classified:
    """Return the domain of a request.

    Args:
        request: What the user asks for.
        rules: Words and phrases by domain.
        usual: The domain that the skill names, for requests of which the rules say nothing.

    """
    found = {domain: hits(request, rules.get(domain, ())) for domain in Domain}
    best, confidence = _judged(found)
    others = [domain for domain in Domain if found[domain] and domain is not best]
    if confidence is not Confidence.UNSURE:
        but = f"; {others[0]} has {', '.join(found[others[0]])}" if others else ""
        return Classified(best, confidence, f"it says {', '.join(found[best])}{but}")
    domain = usual or (best if found[best] else USUAL)
    if found[best]:
        alike = ", ".join(each for each in Domain if len(found[each]) == len(found[best]))
        return Classified(domain, confidence, f"{alike} have as many words in it")
    whose = "the skill names this domain" if usual else "this is the usual one"
    return Classified(domain, confidence, f"no rule has a word of it; {whose}")


def match(request: str, skills: Iterable[CompositeSkill]) -> SkillMatch:
    """Return the skill that a request is for; with UNSURE the user has to be asked."""
    known = {skill.name: skill for skill in skills}
    named = [name for name in known if hits(request, [name.replace("-", " ").replace("_", " ")])]
    if len(named) == 1:
        return SkillMatch(named[0], Confidence.CERTAIN, "the request names it")
    found = {name: hits(request, skill.match) for name, skill in known.items()}
    if not any(found.values()):
        return SkillMatch("", Confidence.UNSURE, "no skill has a word of the request", tuple(known))
    best, confidence = _judged(found)
    others = tuple(name for name in found if name != best and found[name])
    reason = f"the request says {', '.join(found[best])}"
    if confidence is Confidence.UNSURE:
        reason = f"{best} and others have as many words in the request"
    return SkillMatch(best, confidence, reason, others)


def _judged(found: Mapping[_T, tuple[str, ...]]) -> tuple[_T, Confidence]:
    """Return which has the most hits, the first of those with as many, and how sure that is."""
    order = sorted(found, key=lambda each: -len(found[each]))
    best, most = order[0], len(found[order[0]])
    second = len(found[order[1]]) if len(order) > 1 else 0
    if most == second:
        return best, Confidence.UNSURE
    return best, Confidence.CERTAIN if most >= _SURE and not second else Confidence.LIKELY
