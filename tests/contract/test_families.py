"""The plan families that ship, by the suite that is published for those of other packages."""

from __future__ import annotations

from orchestrator.model.agents import Role
from orchestrator.model.task import DELIVERY, Approval, Config, WorkspaceKind
from orchestrator.pm.plan.families import FAMILIES
from orchestrator.testing.contracts.families import FamilyContract


class TestDelivery(FamilyContract):
    name = DELIVERY


class TestDeliveryWithEverything(FamilyContract):
    name = DELIVERY
    config = Config(architect=True, approve=(Approval.PLAN,))

    def test_architect_is_needed(self) -> None:
        assert Role.ARCHITECT.value in self.family().agents(self.brief())


class TestDeliveryInTheUsersTree(FamilyContract):
    name = DELIVERY
    config = Config(workspace=WorkspaceKind.SHARED)


def test_each_family_that_ships_is_held_to_the_suite() -> None:
    assert {TestDelivery.name} == set(FAMILIES) - set(FAMILIES.added)
