"""`[notify]` as people write it: channels with their addresses, rules, quiet hours.

An address holds secrets: what is wrong with one is said without it.
"""

from __future__ import annotations

import re
from typing import Final

from orchestrator.model.notification import Channel, NotificationRule

_MOST: Final = 50
_CHANNEL: Final = 'give addresses like "tgram://TOKEN/CHAT name=phone rules=question,daemon"'
_ADDRESS: Final = re.compile(r"([a-z][a-z0-9+.-]{0,30})://\S{0,2000}")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_QUIET: Final = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])\s*-\s*([01]?[0-9]|2[0-3]):([0-5][0-9])")


def read_channels(value: object) -> tuple[Channel, ...]:
    """Return the channels of a list of texts: an address each, then `name=` and `rules=` if wanted.

    One without a name is called by its scheme, numbered where there are several.

    Raises:
        ValueError: one does not read; the message says which, and nothing of its address.

    """
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"is no list of texts: {_CHANNEL}")
    if len(value) > _MOST:
        raise ValueError(f"has {len(value)} channels: give at most {_MOST}")
    taken: dict[str, Channel] = {}
    for number, text in enumerate(value, 1):
        channel = _channel(number, text, taken)
        taken[channel.name] = channel
    return tuple(taken.values())


def read_rules(value: object) -> tuple[NotificationRule, ...]:
    """Return the rules of a list of their names. Raises ValueError."""
    known = ", ".join(NotificationRule)
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"is {_shown(value)}: give a list of {known}")
    for text in value:
        if text not in set(NotificationRule):
            raise ValueError(f"holds {_shown(text)}: there are {known}")
    return tuple(dict.fromkeys(NotificationRule(text) for text in value))


def read_quiet(value: object) -> str:
    """Return quiet hours as `HH:MM-HH:MM`; an empty text is none. Raises ValueError."""
    if value == "":
        return ""
    found = _QUIET.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or found.group(1, 2) == found.group(3, 4):
        raise ValueError(f'is {_shown(value)}: give two different local times like "22:00-07:00", or ""')
    return f"{int(found[1]):02}:{found[2]}-{int(found[3]):02}:{found[4]}"


def quiet_minutes(quiet: str) -> tuple[int, int]:
    """Return from which minute of the day quiet hours last until which; equal where there are none."""
    if not quiet:
        return 0, 0
    hours = [int(part) for part in re.split("[:-]", quiet)]
    return hours[0] * 60 + hours[1], hours[2] * 60 + hours[3]


def _channel(number: int, text: str, taken: dict[str, Channel]) -> Channel:
    url, *words = text.split() or [""]
    address = _ADDRESS.fullmatch(url)
    if address is None:
        raise ValueError(f"holds as number {number} what is no address: {_CHANNEL}")
    name, rules = "", tuple[NotificationRule, ...]()
    for word in words:
        key, sign, said = word.partition("=")
        if key == "name" and _NAME.fullmatch(said):
            name = said
        elif key == "rules" and said:
            rules = read_rules(said.split(","))
        else:
            wrong = f"{key}{sign}" if key in {"name", "rules"} else "an option"
            raise ValueError(
                f"holds as number {number} ({address[1]}://…) {wrong} that does not read: {_CHANNEL}"
            )
    if name in taken:
        raise ValueError(f"holds two channels named {name}")
    return Channel(name or _free(address[1], taken), url, rules)


def _free(scheme: str, taken: dict[str, Channel]) -> str:
    bare = re.sub(r"[^a-z0-9_-]", "-", scheme)
    return next(name for n in range(1, _MOST + 2) if (name := bare if n == 1 else f"{bare}-{n}") not in taken)


def _shown(value: object) -> str:
    return ascii(value)[:40]
