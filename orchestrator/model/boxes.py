"""How a box is called, and why it may not be reached."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Address:
    """Whom ssh is to call: a name or address, or an alias of the user's settings. Empty and 0: as they say."""

    host: str
    user: str = ""
    port: int = 0

    def words(self) -> list[str]:
        """Return the arguments of ssh that name it; the last is the host, which `--` keeps from being an option."""
        user = ["-l", self.user] if self.user else []
        port = ["-p", str(self.port)] if self.port else []
        return [*user, *port, "--", self.host]

    def __str__(self) -> str:
        """As a person writes it; as `user@host`, with a port behind it if one was given."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = f":{self.port}" if self.port else ""
        return f"{self.user}@{host}{port}" if self.user else f"{host}{port}"


class Trouble(StrEnum):
    """Why a box was not reached. All but the first need a person's repair: trying again does not help."""

    UNREACHABLE = "unreachable"
    AUTH = "auth"  # the box accepts none of our keys, or the agent that holds them will not sign
    UNKNOWN_HOST = "unknown_host"
    CHANGED_KEY = "changed_key"
    SETTINGS = "settings"  # ssh rejects its settings, or shares no algorithm with the box
