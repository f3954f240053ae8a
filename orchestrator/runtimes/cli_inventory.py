"""The agent CLIs that there are: how each is found, asked for its version, installed and logged in to.

Where a login lies was seen on the versions in `tried`, or is what the CLI's own documents say (Kiro). What cannot
be seen in a file or a variable (a keychain, an expired token) cannot be told without the network.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Store:
    """A file that tells of a login: `file` below the folder that `variable` names, else below `usual`.

    `says` is what must stand in it; empty: that it is there is enough.
    """

    variable: str
    usual: str
    file: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class AgentCli:
    """One agent CLI.

    `variables` are those by any of which it is logged in. `tried` is the oldest version that this program was tried
    with, as numbers; empty if none was. `signals` names what tells of its turns, best source first.
    """

    name: str
    title: str
    program: str
    install: str
    login: str
    stores: tuple[Store, ...]
    variables: tuple[str, ...]
    signals: str
    tried: tuple[int, ...] = ()
    asked: tuple[str, ...] = ("--version",)

    @property
    def event_source(self) -> str:
        """Where events of its turns come from, and whether that was never tried on the real program."""
        return self.signals if self.tried else f"{self.signals} (untested)"


_MODEL_KEYS: Final = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "OPENROUTER_API_KEY",
    "DEEPSEEK_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "XAI_API_KEY",
)

_CLAUDE: Final = AgentCli(
    name="claude",
    title="Claude Code",
    program="claude",
    install="npm install -g @anthropic-ai/claude-code",
    login="claude, then /login; or claude setup-token",
    stores=(
        Store("CLAUDE_CONFIG_DIR", "~/.claude", ".credentials.json"),
        Store("CLAUDE_CONFIG_DIR", "~/.claude", "settings.json", '"apiKeyHelper"'),
        Store("CLAUDE_CONFIG_DIR", "~", ".claude.json", '"primaryApiKey"'),
    ),
    variables=(
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_FOUNDRY",
        "CLAUDE_CODE_USE_VERTEX",
    ),
    signals="hooks",
    tried=(2, 1, 197),
)
_CODEX: Final = AgentCli(
    name="codex",
    title="Codex",
    program="codex",
    install="npm install -g @openai/codex",
    # 0.169 with OPENAI_API_KEY or CODEX_API_KEY alone: `codex login status` says "Not logged in". With the latter its
    # runtime gives it a provider that works by that key.
    login="codex login; or printenv OPENAI_API_KEY | codex login --with-api-key; or CODEX_API_KEY in the environment",
    stores=(
        Store("CODEX_HOME", "~/.codex", "auth.json"),
        Store("CODEX_HOME", "~/.codex", "config.toml", "env_key"),
    ),
    variables=("CODEX_ACCESS_TOKEN", "CODEX_API_KEY"),
    signals="hooks, session file",
    tried=(0, 169),
)
_GEMINI: Final = AgentCli(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    install="npm install -g @google/gemini-cli",
    login="gemini, then /auth",
    stores=(
        Store("GEMINI_CLI_HOME", "~", ".gemini/oauth_creds.json"),
        Store("GEMINI_CLI_HOME", "~", ".gemini/gemini-credentials.json"),
        Store("GEMINI_CLI_HOME", "~", ".gemini/.env", "_API_KEY"),
    ),
    variables=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"),
    signals="hooks, chat file",
    tried=(0, 61),
)
_OPENCODE: Final = AgentCli(
    name="opencode",
    title="opencode",
    program="opencode",
    install="npm install -g opencode-ai",
    login="opencode auth login",
    stores=(Store("XDG_DATA_HOME", "~/.local/share", "opencode/auth.json", '"type"'),),
    variables=(
        *_MODEL_KEYS,
        "GOOGLE_GENERATIVE_AI_API_KEY",
        "OPENCODE_API_KEY",
        "OPENCODE_AUTH_CONTENT",
    ),
    signals="plugin",
    tried=(1, 18),
)
_KIRO: Final = AgentCli(
    name="kiro",
    title="Kiro CLI",
    program="kiro-cli",
    install="see https://kiro.dev/docs/cli/installation (not on npm; the PyPI package of that name is another)",
    login="kiro-cli login",
    stores=(
        Store("XDG_DATA_HOME", "~/.local/share", "kiro-cli/data.sqlite3"),
        Store("", "~/Library/Application Support", "kiro-cli/data.sqlite3"),
    ),
    variables=("KIRO_API_KEY",),
    signals="hooks",
)
_AIDER: Final = AgentCli(
    name="aider",
    title="aider",
    program="aider",
    install="python3 -m pip install aider-install && aider-install",
    login="a model's key, for example in ~/.aider.conf.yml",
    stores=(
        Store("", "~", ".aider.conf.yml", "api-key"),
        Store("", "~", ".aider/oauth-keys.env"),
        Store("", "~", ".env", "_API_KEY"),
    ),
    variables=(*_MODEL_KEYS, "AIDER_API_KEY", "AIDER_ANTHROPIC_API_KEY", "AIDER_OPENAI_API_KEY"),
    signals="exit",
    tried=(0, 86),
)

AGENT_CLIS: Final = (_CLAUDE, _CODEX, _GEMINI, _OPENCODE, _AIDER, _KIRO)
"""In the order in which `runtime: auto` takes the first that is installed: those that nobody has tried come last."""


def program_on(path: str, program: str) -> str | None:
    """Return the absolute path of a program on a `PATH`; None if it is in none of its folders.

    A folder that is not absolute is passed over: what it is depends on where an agent works.
    """
    folders = [folder for folder in path.split(os.pathsep) if folder.startswith("/")]
    return shutil.which(program, path=os.pathsep.join(folders)) if folders else None


def first_installed(path: str) -> str | None:
    """Return the name of the first agent CLI that is on a `PATH`, for `runtime: auto`; None if there is none.

    No program is started.
    """
    return next((cli.name for cli in AGENT_CLIS if program_on(path, cli.program)), None)
