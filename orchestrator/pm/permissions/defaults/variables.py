"""Variables of the environment, and the scripts that set them."""

from __future__ import annotations

from typing import Final

ASSIGNED_FREELY: Final[dict[str, str]] = {
    "*PAGER": r"cat|true|",
    "*EDITOR": r"cat|true|:|",
    "GIT_AUTHOR_*": r"[^`]*",
    "GIT_COMMITTER_*": r"[^`]*",
    "GIT_TERMINAL_PROMPT": r"[01]",
    "GIT_OPTIONAL_LOCKS": r"[01]",
    "GIT_MERGE_AUTOEDIT": r"no",
    "GIT_CONFIG_NOSYSTEM": r"1",
    "GIT_CONFIG_GLOBAL": r"/dev/null",
    "GIT_TRACE*": r"[012]|true|false",
    "NODE_OPTIONS": r"(?:--(?:max-old-space-size=\d+|openssl-legacy-provider|(?:experimental|no|trace)-[a-z-]+)\s*)*",
    "MAKEFLAGS": r"-[jks][0-9]*",
    "IFS": r".*",
    "SHELL": r"/(?:usr/)?bin/(?:ba|z|da)?sh",
    "BROWSER": r"none|true|",
    "CC": r"(?:gcc|clang|cc)(?:-[0-9]+)?",
    "CXX": r"(?:g\+\+|clang\+\+|c\+\+)(?:-[0-9]+)?",
}
"""Variables that are allowed with some values only, as regular expressions."""
UNSAFE_VARIABLES: Final = (
    *(
        "PATH",
        "IFS",
        "CDPATH",
        "ENV",
        "BASH_ENV",
        "SHELLOPTS",
        "BASHOPTS",
        "PS4",
        "HOME",
        "SHELL",
        "ZDOTDIR",
        "FPATH",
    ),
    *(
        "LD_*",
        "DYLD_*",
        "GIT_*",
        "*PAGER",
        "*EDITOR",
        "VISUAL",
        "*_COMMAND",
        "BROWSER",
        "LESSOPEN",
        "LESSCLOSE",
    ),
    *(
        "ORCHESTRATOR_*",
        "TMUX*",
        "SSH_*",
        "NODE_OPTIONS",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "RUSTC_WRAPPER",
        "RUSTC",
    ),
    *(
        "RIPGREP_CONFIG_PATH",
        "MAKEFLAGS",
        "GOFLAGS",
        "GOPROXY",
        "GONOSUMDB",
        "GOINSECURE",
        "*_PROXY",
        "*_proxy",
        "PERL5OPT",
    ),
    *(
        "PERL5DB",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "CC",
        "CXX",
        "LD",
        "PIP_*",
        "UV_INDEX*",
        "UV_DEFAULT_INDEX",
    ),
    *(
        "UV_EXTRA_INDEX*",
        "npm_config_*",
        "NPM_CONFIG_*",
        "YARN_*",
        "CARGO_REGISTRIES_*",
        "CARGO_BUILD_RUSTC*",
        "DOCKER_*",
    ),
    *("KUBECONFIG", "PROMPT_*", "PS0", "HISTFILE", "MANPAGER", "LESS", "TAR_OPTIONS"),
    *(
        "GREP_OPTIONS",
        "SUDO_*",
        "CLAUDE_*",
        "CODEX_*",
        "GEMINI_CLI_*",
        "OPENCODE_*",
        "ANTHROPIC_*",
        "OPENAI_BASE*",
    ),
)
"""Set ahead of a command, they make it another one, make it run something else, or send it elsewhere."""

SECRET_VARIABLES: Final = (
    "*KEY",
    "*TOKEN*",
    "*SECRET*",
    "*PASSWORD*",
    "*PASSWD*",
    "*CREDENTIAL*",
    "*PRIVATE*",
)
"""What they hold is not to be printed."""

OWN_SCRIPTS: Final = (
    *(
        "~/.bashrc",
        "~/.zshrc",
        "~/.profile",
        "~/.bash_profile",
        "~/.zprofile",
        "~/.nvm/nvm.sh",
        "~/.cargo/env",
    ),
    *(
        "~/.sdkman/bin/sdkman-init.sh",
        "~/.rvm/scripts/rvm",
        "~/.asdf/asdf.sh",
        "/etc/profile",
        "/etc/bash.bashrc",
    ),
)
