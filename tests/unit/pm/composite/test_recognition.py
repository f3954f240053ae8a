"""What a request is about, and which skill it is for, by words that are counted (S2)."""

from dataclasses import replace

import pytest

from orchestrator.formats.skill.config import read_skill
from orchestrator.formats.skill.domains import read_domain_rules
from orchestrator.model.composite import Confidence, Domain
from orchestrator.pm.plan.composite.phrases import hits
from orchestrator.pm.plan.composite.recognition import classify, match
from orchestrator.shipped import shipped
from tests.unit.skill_sessions import RULES, SKILL

FOLDER = shipped("agents") / "composite"
SHIPPED_RULES = read_domain_rules((FOLDER / "domains.yaml").read_bytes(), "domains.yaml")
SHIPPED = [read_skill(path.read_bytes(), str(path)) for path in sorted(FOLDER.glob("*/config.yaml"))]
POEMS = replace(SKILL, name="write-poems", match=("poem*", "verse"))


@pytest.mark.parametrize(
    ("text", "phrases", "found"),
    [
        ("Fix the BUG, now", ["bug", "bugs", "fix the bug", "the now"], ("bug", "fix the bug")),
        ("debugging", ["bug*", "debug*", "*"], ("debug*",)),
        ("new-project", ["new project"], ("new project",)),
        ("", ["a", ""], ()),
    ],
)
def test_phrases_are_found_by_whole_words(text, phrases, found):
    assert hits(text, phrases) == found


@pytest.mark.parametrize(
    ("request_", "domain", "confidence"),
    [
        ("Write code for a parser", Domain.TECHNICAL, Confidence.CERTAIN),
        ("Write a poem", Domain.CREATIVE, Confidence.LIKELY),
        ("A poem about the code of a parser", Domain.TECHNICAL, Confidence.LIKELY),
        ("A poem about code", Domain.TECHNICAL, Confidence.UNSURE),
        ("Do it", Domain.TECHNICAL, Confidence.UNSURE),
    ],
)
def test_a_domain_is_as_sure_as_its_words(request_, domain, confidence):
    found = classify(request_, RULES)
    assert (found.domain, found.confidence) == (domain, confidence)
    assert found.reason


def test_the_skill_names_the_domain_where_no_rule_does():
    found = classify("Do it", RULES, Domain.PERSONAL)
    assert (found.domain, found.confidence) == (Domain.PERSONAL, Confidence.UNSURE)


@pytest.mark.parametrize(
    ("request_", "domain"),
    [
        ("Refactor the API and its tests", Domain.TECHNICAL),
        ("Plan a birthday for my family", Domain.PERSONAL),
        ("A poem, and a melody for the song", Domain.CREATIVE),
        ("A proposal for a customer, with its budget", Domain.PROFESSIONAL),
    ],
)
def test_the_shipped_rules_know_plain_requests(request_, domain):
    assert classify(request_, SHIPPED_RULES).domain is domain


@pytest.mark.parametrize(
    ("request_", "skill", "confidence"),
    [
        ("Develop project X by hand", "develop-project", Confidence.CERTAIN),
        ("A poem in free verse", "write-poems", Confidence.CERTAIN),
        ("A poem", "write-poems", Confidence.LIKELY),
        ("Develop a poem", "develop-project", Confidence.UNSURE),
        ("Hello", "", Confidence.UNSURE),
    ],
)
def test_a_skill_is_matched_with_reason_and_confidence(request_, skill, confidence):
    found = match(request_, [SKILL, POEMS])
    assert (found.skill, found.confidence) == (skill, confidence)
    assert found.reason


def test_an_unsure_match_names_what_would_suit_too():
    assert match("Develop a poem", [SKILL, POEMS]).others == ("write-poems",)
    assert match("Hello", [SKILL, POEMS]).others == ("develop-project", "write-poems")
    assert match("Hello", []).skill == ""


@pytest.mark.parametrize(
    ("request_", "skill"),
    [("Build a parser for logs", "develop-project"), ("Write a guide for new users", "write-document")],
)
def test_the_shipped_skills_are_found(request_, skill):
    assert match(request_, SHIPPED).skill == skill
