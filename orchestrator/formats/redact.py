"""Secrets in text, masked before anybody sees it."""

from __future__ import annotations

import re
from typing import Final

MASK: Final = "[redacted]"

_KEY_ENDS: Final = re.compile(r"-----END [A-Z0-9 ]{0,60}-----")
_KEY: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_NAMES: Final = "password|passwd|passphrase|secret|token|(?:api|access|secret|private)[_-]?key"
# Each begins where no word goes on, so that a long run of letters is read once, not from each of them.
_TOKENS: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"sk-[A-Za-z0-9_-]{16,}"  # OpenAI; Anthropic's sk-ant-…
    r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}"
    r"|glpat-[A-Za-z0-9_-]{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|xox[a-z]-[A-Za-z0-9-]{10,}"
    r"|AIza[A-Za-z0-9_-]{30,}"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{30,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{6,}"  # a signed web token
    r")"
)
_BEARER: Final = re.compile(r"\b(bearer|basic)([ \t]{1,4})[A-Za-z0-9._~+/-]{12,}={0,2}", re.IGNORECASE)
_IN_URL: Final = re.compile(r"(://[^/\s:@\[\]]{0,100}:)[^/\s@]{1,300}(?=@)")
_ASSIGNED: Final = re.compile(
    rf"((?:{_NAMES})[\"']?[ \t]{{0,3}}=[ \t]{{0,3}})(?:\"[^\"\n]*\"|'[^'\n]*'|(?!\[redacted\])[^\s\"',;&)\]}}]+)"
    rf"|((?:{_NAMES})[\"']?[ \t]{{0,3}}:[ \t]{{0,3}})"
    r"(?:\"[^\"\n]+\"|'[^'\n]+'|(?=[A-Za-z_.~+/-]{0,80}[0-9])[A-Za-z0-9_.~+/-]{8,}={0,2})",
    re.IGNORECASE,
)


def redacted(text: str) -> str:
    """Return text with what looks like a secret masked.

    Known API keys, bearer and web tokens, passwords in addresses, private key blocks (to the end of the text if
    one is cut off), and what is assigned to a password, token or key: after `=` always, after `:` if it is in
    quotes or looks random.
    """
    text = _without_keys(text)
    text = _TOKENS.sub(MASK, text)
    text = _BEARER.sub(rf"\1\2{MASK}", text)
    text = _IN_URL.sub(rf"\1{MASK}", text)
    return _ASSIGNED.sub(lambda found: f"{found[1] or found[2]}{MASK}", text)


def _without_keys(text: str) -> str:
    kept, start = list[str](), 0
    while found := _KEY.search(text, start):
        kept += [text[start : found.start()], MASK]
        end = _KEY_ENDS.search(text, found.end())
        start = end.end() if end else len(text)
    return "".join((*kept, text[start:]))
