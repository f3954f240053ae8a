"""Whether an agent may do what it wishes to, by the rules of its task."""

from __future__ import annotations

from orchestrator.model.permission import Act, Judgement, Policy, Ruling, Wish


def judge(policy: Policy, wish: Wish, grants: tuple[str, ...]) -> Judgement:  # noqa: ARG001
    """Return what the rules say of a wish."""
    if wish.act is Act.READ or (wish.act is Act.WRITE and wish.inside):
        return Judgement(Ruling.ALLOW, "it lies where the run may work", policy.wait)
    return Judgement(policy.otherwise, "no rule says anything of it", policy.wait)
