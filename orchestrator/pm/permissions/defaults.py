"""What holds unless the user says otherwise, as tables. The programs that have a table are judged beside them."""

from __future__ import annotations

from typing import Final

from orchestrator.formats.text import names

# Files -------------------------------------------------------------------------------------------

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
"""Names, or the last parts of a path; in small letters."""

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

# Commands ----------------------------------------------------------------------------------------

DENIED: Final[dict[str, str]] = {
    **dict.fromkeys(("sudo", "su", "doas", "pkexec", "runuser"), "it acts as another user"),
    **dict.fromkeys(
        (
            "git push",
            "git send-pack",
            "git send-email",
            "git http-push",
            "git svn dcommit",
            "git subtree push",
        ),
        "what leaves this machine is for a person to send",
    ),
    **dict.fromkeys(
        ("git remote add", "git remote set-url", "git remote rename", "git remote set-head"),
        "it changes where work is sent",
    ),
    **dict.fromkeys(("git config --global", "git config --system"), "it changes git for all projects"),
    **dict.fromkeys(("ssh", "scp", "sftp", "sshfs", "mosh", "telnet"), "it reaches another machine"),
    **dict.fromkeys(("tmux", "screen"), "the terminals are the PM's"),
    **dict.fromkeys(
        (
            *(f"task {verb}" for verb in ("start", "stop", "checkin", "spawn", "order", "answer", "attach")),
            *(
                f"agent-orchestrator {verb}"
                for verb in ("start", "stop", "checkin", "spawn", "order", "answer")
            ),
            *(
                "task setup-agents",
                "task notify test",
                "agent-orchestrator attach",
                "agent-orchestrator daemon",
            ),
            *(f"task daemon {verb}" for verb in ("run", "start", "stop", "install", "uninstall")),
            *("spawn_agent.sh", "spawn_pm.sh", "pm-check-in.sh"),
        ),
        "agents do not steer agents",
    ),
    **dict.fromkeys(("kill", "pkill", "killall", "skill", "xkill"), "it may end what is not the agent's"),
    **dict.fromkeys(
        ("shutdown", "reboot", "halt", "poweroff", "telinit", "init 0", "init 6"), "it stops the machine"
    ),
    **dict.fromkeys(("mkfs*", "fdisk", "parted", "wipefs", "mkswap", "mount", "umount"), "it changes disks"),
    **dict.fromkeys(
        ("crontab", "at", "batch", "systemctl", "service", "launchctl", "loginctl", "systemd-run"),
        "it changes what the machine runs",
    ),
    **dict.fromkeys(
        (
            f"rm {flag} {place}"
            for flag in ("-r", "-R", "--recursive")
            for place in ("/", "/*", "~", "~/", "~/*", "~/.*")
        ),
        "it deletes what is not the agent's",
    ),
}
"""Patterns as a rule has them, and why."""

PLAIN: Final = names(
    "echo printf true false test [ : pwd whoami id uname arch nproc tty type which basename dirname seq sleep expr exit"
)
"""They change nothing and read no files, whatever they are given."""

READERS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("ls", "cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "cut", "nl", "tac", "rev"), ()
    ),
    **dict.fromkeys(
        ("tr", "od", "strings", "stat", "df", "du", "fold", "fmt", "paste", "join", "comm", "expand"), ()
    ),
    **dict.fromkeys(
        ("md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "realpath", "readlink", "jq", "cmp"), ()
    ),
    "column": (),
    "diff": ("--to-file", "--from-file"),
    "rg": ("--pre", "--hostname-bin"),
    "sort": ("-o", "-T", "--output", "--compress-program", "--temporary-directory"),
    "file": ("-C", "--compile"),
    "tree": ("-o",),
    "date": ("-s", "--set"),
    "find": (
        *("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprintf", "-fls", "-fprint0"),
        "-files0-from",
    ),
}
"""They only read, unless one of these options is given."""

PATTERN_FIRST: Final = frozenset({"grep", "egrep", "fgrep", "rg", "jq", "tr"})
"""Their first operand is no file."""

WRITERS: Final[dict[str, str]] = {
    "mkdir": "pvm",
    "touch": "acm",
    "rmdir": "pv",
    "rm": "rRfidv",
    "cp": "raRpfivnudPTH",
    "mv": "fivnuT",
    "tee": "ai",
    "chmod": "Rvfc",
}
"""They write what they name, and these are the options with which they do no more than that."""

WRITER_WORDS: Final = names(
    "--recursive --force --verbose --parents --no-clobber --archive --append --update --interactive"
)

RUNNERS: Final = names(
    "pytest py.test ruff mypy tox nox black isort flake8 pylint pyright coverage python python3 node tsc eslint "
    "prettier jest vitest mocha playwright make gmake ctest cmake gradle gradlew mvn mvnw gofmt rustfmt"
)
"""Programs of development, allowed with whatever they are given: they run what the agent wrote."""

MODULES: Final = names(
    "unittest compileall json.tool timeit doctest py_compile venv build tabnanny trace cProfile"
)
"""What `python -m` may run besides."""

SUBCOMMANDS: Final[dict[str, frozenset[str]]] = {
    "npm": frozenset({"test", "t", "tst", "run", "run-script", "ls", "list"}),
    "pnpm": frozenset({"test", "t", "run", "ls", "list"}),
    "yarn": frozenset({"test", "run", "lint", "build", "typecheck", "why", "list"}),
    "cargo": frozenset({"build", "b", "test", "t", "check", "c", "clippy", "fmt", "doc", "tree", "metadata"}),
    "go": frozenset({"build", "test", "vet", "fmt", "list", "version"}),
}
"""The first word after the program that is allowed."""

NEVER_WITH: Final[dict[str, tuple[str, ...]]] = {
    "npm": ("--script-shell", "--node-options", "--prefix", "-C", "--userconfig", "--globalconfig"),
    "pnpm": ("--script-shell", "--dir", "-C", "--shell-emulator"),
    "yarn": ("--script-shell", "--cwd", "--use-yarnrc"),
    "cargo": ("--config", "--manifest-path", "-Z"),
    "go": ("-exec", "-toolexec", "-vettool", "-C", "-modfile", "-overlay"),
    "make": ("--eval",),
    "gmake": ("--eval",),
    "cmake": ("-E",),
}
"""Options with which there is no default: what they name would run, or it would happen elsewhere."""

PACKAGES: Final = frozenset({"tsc", "eslint", "prettier", "jest", "vitest", "mocha", "playwright"})
"""What `npx` may run."""

GIT: Final = names(
    "status diff log show add commit stash branch switch checkout restore rev-parse ls-files ls-tree blame grep mv rm"
    " cat-file describe shortlog tag merge-base rev-list name-rev diff-tree show-ref for-each-ref count-objects"
    " check-ignore whatchanged version"
)
GIT_NEVER: Final = (
    *(
        "--output",
        "--ext-diff",
        "--textconv",
        "--open-files-in-pager",
        "-O",
        "--no-index",
        "--exec",
        "--contents",
    ),
    *("--pathspec-from-file", "--edit-description", "--filters"),
)
GIT_SETTINGS: Final = (
    "user.*",
    "color.*",
    "advice.*",
    "core.quotepath",
    "commit.gpgsign",
    "init.defaultbranch",
)
"""What `git -c` may set."""

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
        "RUSTC_WRAPPER",
        "RIPGREP_CONFIG_PATH",
        "MAKEFLAGS",
        "TASK*",
    ),
)
"""Set ahead of a command, they make it another one, or make it run something else."""

REMOTE_COPY: Final = "rsync"
