"""Commands that are denied, and why."""

from __future__ import annotations

from typing import Final

_VERBS: Final = (
    *("start", "stop", "checkin", "spawn", "order", "answer", "attach"),
    *("merge", "rebase", "delete", "archive", "retry"),
)
"""Verbs of our own commands that change something."""

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
        "only a person may send work away from this machine",
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
            *(f"{program} {verb}" for program in ("task", "agent-orchestrator") for verb in _VERBS),
            *("task setup-agents", "task notify test", "agent-orchestrator daemon"),
            *(f"task daemon {verb}" for verb in ("run", "start", "stop", "install", "uninstall")),
            *("spawn_agent.sh", "spawn_pm.sh", "pm-check-in.sh"),
        ),
        "agents do not control other agents",
    ),
    **dict.fromkeys(
        ("kill", "pkill", "killall", "skill", "xkill"), "it may end processes that are not the agent's"
    ),
    **dict.fromkeys(
        ("shutdown", "reboot", "halt", "poweroff", "telinit", "init 0", "init 6"), "it stops the machine"
    ),
    **dict.fromkeys(("mkfs*", "fdisk", "parted", "wipefs", "mkswap", "mount", "umount"), "it changes disks"),
    **dict.fromkeys(
        ("crontab", "at", "batch", "systemctl", "service", "launchctl", "loginctl", "systemd-run"),
        "it changes what the machine runs",
    ),
}
"""Patterns in the form of rules, and the reason of each."""

LOOKED_FOR: Final[dict[str, str]] = DENIED | {
    f"rm {flag} {place}": "it deletes files that are not the agent's"
    for flag in ("-r", "-R", "--recursive")
    for place in ("/", "~", "~/")
}
"""The same, with commands that are denied because of their paths, for text whose words are not certain."""
