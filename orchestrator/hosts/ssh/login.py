"""The environment of a login on a box; the allow-list decides what an agent there gets of it (U4)."""

from __future__ import annotations

from typing import Final

from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import DEADLINE, BoxLink

LOGIN_SHELL: Final = """\
case ${SHELL-} in
*/sh | */ash | */bash | */dash | */fish | */ksh | */mksh | */zsh) shell=$SHELL ;;
*) shell=sh ;;
esac
"""
"""Sets `shell` to the user's own, whose files set PATH; to sh if it takes other options."""

_MARK: Final = "orchestrator-login-1"
_SCRIPT: Final = f"""{LOGIN_SHELL}printf '\\n{_MARK}\\n%s\\n%s\\n' "$PATH" "$(readlink -f /etc/localtime || :)"
exec "$shell" -l -c 'printf "\\n{_MARK}\\n"; exec env -0' </dev/null"""


def login_environment(link: BoxLink, deadline: float = DEADLINE) -> dict[str, str]:
    """Return the environment of the user's login shell there; a value that is not UTF-8 is left out.

    Its PATH is extended by that of a plain command, which may be set elsewhere. If it sets no TZ, that is the zone of
    the machine: times that a program there prints must be understood here. `deadline` is in seconds.

    Raises:
        Unavailable: the box did not answer, or has no HOME that is a path; besides, as `Link.run`.

    """
    ended = link.run(["sh", "-c", _SCRIPT], deadline=deadline)
    # The output of the login's own files comes before the last mark.
    plain, mark, variables = ended.out.rpartition(f"\n{_MARK}\n".encode())
    found: dict[str, str] = {}
    for each in variables.split(b"\0"):
        name, sign, value = each.partition(b"=")
        try:
            if sign:
                found[name.decode()] = value.decode()
        except UnicodeDecodeError:
            continue
    if ended.status or not mark or not found.get("HOME", "").startswith("/"):
        raise Unavailable(
            f"{link.address} did not send the environment of a login: its login shell ends before a command, or "
            "fails"
        )
    _, _, path = plain.partition(f"\n{_MARK}\n".encode())
    first, _, rest = path.partition(b"\n")
    ours = first.decode(errors="replace").split(":")
    zone = rest.partition(b"\n")[0].decode(errors="replace").rpartition("/zoneinfo/")[2]
    found.setdefault("TZ", zone or "UTC")
    found["PATH"] = ":".join(dict.fromkeys([*found.get("PATH", "").split(":"), *ours]))
    return found
