"""Which environment variables reach an agent unless the settings say otherwise, and which never do."""

PASSED = (
    "COLORTERM",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LOGNAME",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
)
"""The variables that reach an agent unless the settings say otherwise. None of them holds a secret."""

NEVER_PASSED = ("LD_", "DYLD_", "TMUX", "ORCHESTRATOR_")
"""No variable whose name begins so reaches an agent from outside, whatever the settings say."""
