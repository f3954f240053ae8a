"""Why a model's service refused, by its words."""

from __future__ import annotations

import pytest

from orchestrator.formats.provider_refusal import refusal
from orchestrator.model.event import Failure

SAID = {
    "Rate limit reached on tokens per min (TPM). Please try again in 3600s.": Failure.LIMIT,
    "You exceeded your current quota, please check your plan and billing details.": Failure.CREDIT,
    "You exceeded your current quota. Please retry in 31.5s.": Failure.LIMIT,
    "Your credit balance is too low to access the API.": Failure.CREDIT,
    "Your input exceeds the context window of this model.": Failure.CONTEXT,
    "prompt is too long: 210000 tokens > 200000 maximum": Failure.CONTEXT,
    "Incorrect API key provided.": Failure.LOGIN,
    "The server is overloaded or not ready yet.": Failure.OVERLOAD,
    "The server had an error while processing your request.": None,
    "": None,
}


@pytest.mark.parametrize("text", SAID)
def test_a_refusal_by_its_words(text):
    assert refusal(text) is SAID[text]
