"""Files that agents may not read or change, as tables."""

from __future__ import annotations

from typing import Final

SECRET_FOLDERS: Final = (".ssh", ".aws", ".gnupg", ".azure", ".config/gcloud", ".password-store", ".kube")
SECRET: Final = (
    ".env",
    ".env.*",
    "*_rsa",
    "*_dsa",
    "*_ecdsa",
    "*_ed25519",
    "credentials",
    ".credentials*",
    "credentials.json",
    ".git-credentials",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".docker/config.json",
    ".config/gh/hosts.yml",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    "opencode/auth.json",
    ".vault-token",
    "etc/shadow",
    "etc/gshadow",
    "etc/sudoers",
    "dev/tcp/*/*",
    "dev/udp/*/*",
    "proc/*/environ",
)
"""Names, or the last parts of a path, in lower case."""

NO_SECRETS: Final = ("*.pub", ".env.example", ".env.sample", ".env.template", ".env.dist")

PROTECTED_FOLDERS: Final = (
    ".git",
    ".claude/hooks",
    ".codex/hooks",
    ".gemini/hooks",
    ".opencode/plugin*",
    ".ssh",
)
PROTECTED: Final = (
    ".git",
    ".claude",
    ".codex",
    ".gemini",
    ".opencode",
    ".claude/settings*.json",
    ".claude.json",
    ".mcp.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".gemini/policies/*",
    "opencode.json",
    "opencode.jsonc",
)
