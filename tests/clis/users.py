"""What a user of each CLI has, so that it works with the scripted model server: variables, an address, a model."""

from __future__ import annotations

from typing import Final

from orchestrator.model.agents import Agent
from tests.clis.place import KEY

_MODELS: Final = {"codex": "gpt-5.1-codex", "gemini": "gemini-2.5-pro", "aider": "openai/bench"}


def variables(cli: str, url: str) -> dict[str, str]:
    """Return the variables by which a user points a CLI to another address, with a key that is none."""
    return {
        "claude": {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY},
        "codex": {"OPENAI_BASE_URL": f"{url}/v1", "CODEX_API_KEY": KEY},
        "gemini": {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": KEY},
        "opencode": {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": KEY},
        "aider": {"OPENAI_API_BASE": f"{url}/v1", "OPENAI_API_KEY": KEY},
    }[cli]


def subscribed(url: str) -> dict[str, str]:
    """Return the variables of a user of Claude Code who has a subscription: only to them it tells of its windows."""
    return {"ANTHROPIC_BASE_URL": url, "CLAUDE_CODE_OAUTH_TOKEN": f"sk-ant-oat01-{'a' * 80}"}


def agent(cli: str) -> Agent:
    """Return a developer that runs on a CLI, with a model whose requests the server reads."""
    return Agent("dev", runtime=cli, model=_MODELS.get(cli), receipts=True)
