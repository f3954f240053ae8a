"""Code that an interpreter gets in the line itself: whether it visibly does something that the agent may not do.

No analysis shows what a program does. This finds what is plainly visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from orchestrator.model.permission import Act, PermissionDecision
from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.finding import By, Finding, shown
from orchestrator.pm.permissions.network import allowed_address
from orchestrator.pm.permissions.paths import granted, judged_path, protected, resolved, secret
from orchestrator.pm.permissions.scanning import denied_within

_STARTS: Final = re.compile(
    r"subprocess|\bos\.(?:system|popen|exec|spawn|posix_spawn)|\bpty\b|Popen|child_process|exec(?:File|Sync|FileSync)?\s*\("
    r"|spawn(?:Sync)?\s*\(|\bsystem\b|\bqx\b|`|__import__|importlib|\beval\b|getattr|base64|codecs|marshal|\bKernel\b|ctypes"
    r"|\bBun\.\$|\bDeno\.|\bproc_open\b|shell_exec|passthru"
)
"""What may start another program, or hide that it does."""

_UNSEEN: Final = re.compile(
    r"\b(?:exec|eval)\s*\(\s*(?:compile\()?\s*(?:input|sys\.stdin|open|require)|\b(?:os|process)\.kill(?:pg)?\b"
)
"""Code from elsewhere, and signals."""

_CHANGES: Final = re.compile(
    r"rmtree|unlink|\bremove\b|rmdir|write_text|write_bytes|writeFile|appendFile|createWriteStream|rename|chmod|chown|symlink"
    r"|mkdir|copy|move|\bopen\s*\([^)]*['\"][wax+]|>>?\s*[\"'/]|truncate|touch|fs\.rm|rmSync|replace\s*\(\s*['\"]/|kill"
)
_LITERAL: Final = re.compile(r"""(?P<q>['"`])(?P<text>(?:(?!(?P=q))[^\\\n]|\\.){1,400})(?P=q)""")
_ADDRESS: Final = re.compile(r"(?:https?|wss?|ftp)://[^\s'\"`)\\<>]+", re.IGNORECASE)
_SOCKET: Final = re.compile(
    r"\bsocket\b|create_connection|smtplib|ftplib|paramiko|net\.connect|\bnet\.Socket\b|telnetlib|IO::Socket"
)
_HOME: Final = re.compile(
    r"expanduser|Path\.home|homedir|os\.environ\[['\"]HOME|process\.env\.HOME|ENV\[['\"]HOME"
)
_ENVIRONMENT: Final = re.compile(
    r"(?:environ(?:\.get\(|\[)|getenv\(|process\.env[.\[]|ENV[{\[]|\$ENV\{)\s*['\"]?[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSW|CREDENTIAL)"
    r"|print\s*\(\s*(?:dict\()?os\.environ\b(?!\.get|\[)|console\.log\(\s*process\.env\s*\)"
)


def running(call: Call, code: str) -> Finding | None:
    """Return the finding on code; None if nothing in it is suspicious."""
    starts = _STARTS.search(code) is not None
    if starts and (found := denied_within(call.case, code)):
        return found
    if found := _by_a_rule(call, code):
        return found
    if _ENVIRONMENT.search(code):
        return call.doubt("shows a variable that may hold a secret")
    if any(not allowed_address(address) for address in _ADDRESS.findall(code)) and _asks(code):
        return call.doubt("reaches an address that no rule allows")
    if _SOCKET.search(code) and not re.search(r"localhost|127\.0\.0\.1|::1|getfreeport|bind\(", code):
        return call.doubt("opens a connection")
    if starts and (far := _far(call, code)):
        return call.doubt(f"may start a program that reaches {shown(far)}")
    if _UNSEEN.search(code):
        return call.doubt("runs its input, or ends other processes")
    return _files(call, code)


def _far(call: Call, code: str) -> str:
    """Return a word in a literal that names something that the run may not write; empty if there is none."""
    for word in (word for text in _literals(code) for word in text.split()):
        if word.startswith(("~", "$")):
            return word
        if word.startswith(("/", "..")) and not all(
            granted(call.case, resolved(word, place or "/")) for place in call.places
        ):
            return word
    return ""


def _asks(code: str) -> bool:
    return (
        re.search(
            r"urlopen|urlretrieve|requests\.|httpx|aiohttp|fetch\s*\(|axios|http\.get|https\.|require\(['\"](?:node:)?https?|\bget\s*\(|Net::HTTP|LWP|curl|wget|WebSocket|got\(",
            code,
        )
        is not None
    )


def _by_a_rule(call: Call, code: str) -> Finding | None:
    """Return the finding of a user's rule that denies something in the code."""
    found = denied_within(call.case, code)
    return found if found is not None and found.by is By.RULE else None


def _files(call: Call, code: str) -> Finding | None:
    """Return the finding on paths in the code."""
    changes = _CHANGES.search(code) is not None
    if changes and _HOME.search(code):
        return call.doubt("may change files in the user's home")
    for text in _literals(code):
        path = (
            call.case.workplace.home + text[1:]
            if text.startswith("~/") and call.case.workplace.home
            else text
        )
        for place in call.places:
            whole = resolved(path, place or "/")
            if secret(whole) and ("/" in text or text.startswith(".")):
                return call.doubt(f"names {shown(text)}, which may hold secrets")
            read = (
                judged_path(call.case, Act.READ, whole, granted=granted(call.case, whole))
                if "/" in text or "." in text
                else None
            )
            if read is not None and read.decision is not PermissionDecision.ALLOW and read.by is By.RULE:
                return read
            if changes and protected(whole):
                return call.doubt(
                    f"names {shown(text)}, which controls git or the agent's own program, and may change it"
                )
            if not changes or not text.startswith(("/", "~/", "../")) or len(text) < 3:  # noqa: PLR2004 (`/x` names little)
                continue
            found = judged_path(call.case, Act.WRITE, whole, granted=granted(call.case, whole))
            if found.decision is not PermissionDecision.ALLOW and re.fullmatch(r"[\w~/.@+*?{}\[\] -]+", text):
                return call.doubt(f"names {shown(text)} and may change it")
    return None


def _literals(code: str) -> Iterator[str]:
    for found in _LITERAL.finditer(code):
        yield found["text"]
