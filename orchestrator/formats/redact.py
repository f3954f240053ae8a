"""Secrets in text, masked before anybody sees it.

What is masked are forms: keys that say by their beginning what they are, headers, passwords in addresses, private
key blocks, and what is assigned to a name that means a secret. Nothing is guessed by how random it looks, so that
hashes, ids of commits, runs and tasks stay. Every pattern takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

MASK: Final = "[redacted]"

# Words -------------------------------------------------------------------------------------------

_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{15,}")
_KEY_WORDS: Final = re.compile(
    r"sk-(?:ant|proj|svcacct|admin|or|lf)-[A-Za-z0-9_-]{16,}"  # Anthropic, OpenAI, OpenRouter, Langfuse
    r"|sk-[A-Za-z0-9]{20,}"
    r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}"
    r"|gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_-]{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}"  # Slack
    r"|AIza[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{20,}"  # Google
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,}"  # Stripe
    r"|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{30,}|dckr_pat_[A-Za-z0-9_-]{20,}"
    r"|xai-[A-Za-z0-9]{40,}|gsk_[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}"  # of models
    r"|do[opr]_v1_[a-f0-9]{64}|dapi[a-f0-9]{32}(?![A-Za-z0-9])|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"
    r"|sq0[a-z]{3}-[A-Za-z0-9_-]{22,}|lin_api_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{40,}|ATATT3[A-Za-z0-9_-]{50,}"
    r"|gls?[ac]_[A-Za-z0-9_]{30,}|sntry[su]_[A-Za-z0-9_]{40,}|tskey-[a-z]{2,20}-[A-Za-z0-9-]{16,}"
    r"|AGE-SECRET-KEY-1[0-9A-Z]{40,}|NRAK-[A-Z0-9]{20,}|PMAK-[a-f0-9-]{40,}"
)
"""What a whole word begins with if it is a key. A word is looked at once, from its beginning."""

_DOTTED: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]+){0,2}"  # a web token
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"  # SendGrid
    r"|ya29\.[A-Za-z0-9_.-]{20,}"  # Google
    r"|hv[sbr]\.[A-Za-z0-9_-]{20,}"  # Vault
    r"|[A-Za-z0-9_.-]{3}8Q~[A-Za-z0-9_.~-]{31,34}(?![A-Za-z0-9_])"  # Azure
    r"|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"  # Telegram
    r")"
)
_HOOKS: Final = re.compile(
    r"(hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/)[A-Za-z0-9_/-]{10,}"
)

# Places ------------------------------------------------------------------------------------------

_OPEN: Final = r"(?!\[redacted\])"  # masked text stays as it is
_HEADER: Final = re.compile(
    r"\b((?:proxy-)?authorization[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?:[A-Za-z][A-Za-z0-9-]{1,30}[ \t]{1,4})?)"
    r"(?!(?:[A-Za-z0-9-]{1,30}[ \t]{1,4})?\[redacted\])[^\s\"',;\[\]]{6,}",
    re.IGNORECASE,
)
_COOKIE: Final = re.compile(
    rf"\b((?:set-)?cookie:[ \t]{{0,3}}[^\s=;:]{{1,100}}=){_OPEN}[^\s;\"']{{1,4096}}", re.IGNORECASE
)
_BEARER: Final = re.compile(
    r"\b(bearer|basic)([ \t]{1,4})(?=[A-Za-z._~+/-]{0,200}[0-9=])[A-Za-z0-9._~+/-]{12,}={0,2}", re.IGNORECASE
)
_IN_URL: Final = re.compile(rf"(://[^/\s:@\[\]]{{0,100}}:){_OPEN}[^/\s]{{1,300}}(?=@)")
_SIGNATURE: Final = re.compile(r"([?&;](?:sig|X-Amz-Signature|X-Goog-Signature)=)[A-Za-z0-9%+/=_-]{16,}")
_NETRC: Final = re.compile(
    rf"\b((?:machine|login)\s{{1,8}}\S{{1,200}}\s{{1,8}}(?:login\s{{1,8}}\S{{1,200}}\s{{1,8}})?password\s{{1,8}}){_OPEN}\S+"
)
_USER_FLAG: Final = re.compile(rf"((?<!\S)(?:-u|--user)[ =][^\s:]{{1,100}}:){_OPEN}[^\s\"']+")

_NAMES: Final = (
    "password|passwd|passphrase|secret|token|credentials?"
    "|(?:api|access|account|secret|private|signing|encryption|master)[_-]?key"
)
_FLAG: Final = re.compile(
    rf"((?<!\S)--(?:[a-z]{{1,20}}-)?(?:{_NAMES})[ \t]{{1,4}}){_OPEN}(?![-<$])[^\s\"']{{4,}}", re.IGNORECASE
)
_NO_VALUE: Final = r"(?!(?:none|null|nil|true|false|undefined)\b|[$<{*%])"
_ASSIGNED: Final = re.compile(
    rf"((?:{_NAMES})[\"']?[ \t]{{0,3}}=[ \t]{{0,3}})"
    rf"(?:\"[^\"\n]+\"|'[^'\n]+'|{_OPEN}{_NO_VALUE}[^\s\"',;&)\]}}]+)"
    rf"|((?:{_NAMES})[\"']?[ \t]{{0,3}}:[ \t]{{0,3}})"
    r"(?:\"[^\"\n]+\"|'[^'\n]+'|(?=[A-Za-z_.~+/-]{0,80}[0-9])[A-Za-z0-9_.~+/-]{8,}={0,2})"
    rf"|\b(pwd[ \t]{{0,3}}=[ \t]{{0,3}}){_OPEN}(?![/~$.\"'])[^\s\"',;&)\]}}]+(?=;)",  # of a connection string
    re.IGNORECASE,
)

_OF_DOTTED: Final = (".", ":", "~")
_OF_ASSIGNED: Final = ("=", ":")
_BY_SIGN: Final = (
    ("/", _HOOKS),
    (":", _HEADER),
    ("=", _HEADER),
    ("=", _COOKIE),
    ("://", _IN_URL),
    ("=", _SIGNATURE),
    ("password", _NETRC),
    ("-u", _USER_FLAG),
    ("--", _FLAG),
)
"""Patterns with a sign of which they match nothing without one: most texts have few of these, and are done at once."""

# Blocks ------------------------------------------------------------------------------------------

_KEY: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS: Final = re.compile(r"-----END [A-Z0-9 ]{0,60}-----")
_PRIVATE_ENDS: Final = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE: Final = re.compile(r"\s*[A-Za-z0-9+/]{1,80}={0,2}\s*")


def redacted(text: str) -> str:
    """Return text with what looks like a secret masked.

    Known API keys, authorization headers, bearer and web tokens, cookies, passwords in addresses, `.netrc` and
    flags, private key blocks (to the end of the text if one is cut off), and what is assigned to a password,
    token or key: after `=` unless it is a word like `none` or a variable, after `:` if it is in quotes or looks
    random.
    """
    return _without_words(_without_keys(text))


def redacted_lines(lines: Iterable[str], masking: LineMask | None = None) -> list[str]:
    """Return lines that follow each other, masked; a private key that began above them is known by its end.

    `masking` goes on with what follows them.
    """
    there, masking = list(lines), masking or LineMask()
    shown = [masking.line(line) for line in there]
    first = next((n for n, line in enumerate(there) if _PRIVATE_ENDS.search(line)), None)
    if first is not None and not any(_KEY.search(line) for line in there[:first]):
        shown[first] = MASK
        while first and _KEY_LINE.fullmatch(there[first - 1]):
            first -= 1
            shown[first] = MASK
    return shown


class LineMask:
    """Masks a text that comes line by line: a private key goes on until its end."""

    def __init__(self) -> None:
        self._inside = False

    def line(self, text: str) -> str:
        """Return one line, masked; all that belongs to a private key is a mask."""
        before = ""
        if self._inside:
            end = _KEY_ENDS.search(text)
            if end is None:
                return MASK
            before, text, self._inside = MASK, text[end.end() :], False
        begun = [found.end() for found in _KEY.finditer(text)]
        self._inside = bool(begun) and _KEY_ENDS.search(text, begun[-1]) is None
        return before + redacted(text)


def _without_words(text: str) -> str:
    if any(sign in text for sign in _OF_DOTTED):
        text = _DOTTED.sub(MASK, text)
    text = _WORD.sub(lambda found: MASK if _KEY_WORDS.match(found[0]) else found[0], text)
    for sign, pattern in _BY_SIGN:
        if sign in text:
            text = pattern.sub(rf"\1{MASK}", text)
    text = _BEARER.sub(rf"\1\2{MASK}", text)
    if not any(sign in text for sign in _OF_ASSIGNED):
        return text
    return _ASSIGNED.sub(lambda found: f"{found[1] or found[2] or found[3]}{MASK}", text)


def _without_keys(text: str) -> str:
    kept, start = list[str](), 0
    while found := _KEY.search(text, start):
        kept += [text[start : found.start()], MASK]
        end = _KEY_ENDS.search(text, found.end())
        start = end.end() if end else len(text)
    return "".join((*kept, text[start:]))
