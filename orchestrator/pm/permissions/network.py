"""Requests to this machine and to package indexes; any other address needs a rule that allows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from orchestrator.formats.text import names
from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.fields import ANYTHING, Field
from orchestrator.pm.permissions.files import read_word, written
from orchestrator.pm.permissions.finding import Finding, strictest

INDEXES: Final = names(
    "pypi.org files.pythonhosted.org registry.npmjs.org registry.yarnpkg.com crates.io index.crates.io static.crates.io"
    " proxy.golang.org sum.golang.org rubygems.org repo1.maven.org repo.maven.apache.org packagist.org"
    " repo.packagist.org"
    " api.nuget.org hex.pm repo.hex.pm"
)
"""Package indexes: nothing can be sent there but the name of a package."""

_LOOPBACK: Final = re.compile(r"localhost|127(?:\.[0-9]{1,3}){3}|\[::1\]|0\.0\.0\.0|[a-z0-9-]+\.localhost")
_ADDRESS: Final = re.compile(
    r"(?:(https?|wss?)://)?(?:[^/?#@\s]*@)?(\[[0-9a-f:]+\]|[^/?#:@\s]+)(?::([0-9]{1,5}|\U000f0000))?(?:[/?#].*)?",
    re.IGNORECASE | re.DOTALL,
)
_CURL_FLAGS: Final = "sSfLvikIgGN0146OJjR#nq"
_CURL_VALUED: Final = "XHdAuowmbcFeTtrzy"
_CURL_LONG: Final = names(
    "--silent --show-error --fail --fail-with-body --location --verbose --include --insecure --head --globoff --get"
    " --request= --header= --data= --data-raw= --data-binary= --data-urlencode= --json= --form= --user= --user-agent="
    " --output= --write-out= --max-time= --connect-timeout= --retry= --retry-delay= --retry-connrefused"
    " --retry-all-errors"
    " --retry-max-time= --compressed --http1.1 --http2 --no-buffer --cookie= --cookie-jar= --url= --dump-header="
    " --no-progress-meter --progress-bar --ipv4 --ipv6 --path-as-is --form-string= --noproxy= --trace-time"
    " --version --help"
)
_WGET_LONG: Final = names(
    "--quiet --spider --timeout= --tries= --output-document= --header= --post-data= --method= --body-data="
    " --server-response"
    " --no-verbose --no-check-certificate --content-on-error --save-headers --directory-prefix="
    " --retry-connrefused --wait="
    " --waitretry= --version --help"
)
_SENDS: Final = frozenset("dFTu")
_SENDS_LONG: Final = (
    "--data",
    "--json",
    "--form",
    "--user",
    "--post",
    "--body",
    "--method",
    "--request",
    "--upload",
)
_WRITES: Final = frozenset(
    {
        "-o",
        "--output",
        "-c",
        "--cookie-jar",
        "-D",
        "--dump-header",
        "-O",
        "--output-document",
        "-P",
        "--directory-prefix",
    }
)


def allowed_address(address: str, *, sends: bool = False) -> str:
    """Return why a request to an address is allowed; empty if it is not.

    Args:
        address: With or without its scheme.
        sends: More than the address is sent.

    """
    found = _ADDRESS.fullmatch(address.strip())
    if not found or ANYTHING in (found[2] or "") or "\\" in address:
        return ""
    host = found[2].casefold().rstrip(".")
    if _LOOPBACK.fullmatch(host):
        return "asks this machine only"
    if (
        host in INDEXES
        and found[1]
        and found[1].lower() == "https"
        and not found[3]
        and not sends
        and "@" not in address
    ):
        return "looks a package up"
    return ""


def requesting(call: Call) -> Finding | None:
    """Return the finding on `curl` or `wget`; None if an option is not known, or an address not allowed."""
    if call.texts and all(text in {"--version", "--help", "-V"} for text in call.texts):
        return call.allow("only prints information")
    flags, valued, long = (
        (_CURL_FLAGS, _CURL_VALUED + "D", _CURL_LONG)
        if call.name == "curl"
        else ("qSN46", "OTtPUe", _WGET_LONG)
    )
    addresses, values = _parted(call.rest, flags, valued, long)
    if addresses is None or not addresses:
        return None
    sends = any(
        (
            option.startswith(_SENDS_LONG)
            and (option, value) not in {("--request", "GET"), ("--request", "HEAD")}
        )
        or (len(option) == 2 and (option[1] in _SENDS or (option == "-X" and value not in {"GET", "HEAD"})))  # noqa: PLR2004
        for option, value in ((option, field.text) for option, field in values)
    )
    reasons = [allowed_address(field.text, sends=sends) for field in addresses]
    if not all(reasons):
        return None
    return strictest([call.allow(reasons[0]), *_files(call, values)])


def connecting(call: Call) -> Finding | None:
    """Return the finding on programs that check whether something listens; None unless it is this machine."""
    operands = [field for field in call.rest if not field.option]
    options = [field.text for field in call.rest if field.option]
    if any(not re.fullmatch(r"-[zvwn46u0-9]+|-[ci]", text) for text in options) or not operands:
        return None
    hosts = [field.text for field in operands if not re.fullmatch(r"[0-9]{1,5}(?:-[0-9]{1,5})?", field.text)]
    return (
        call.allow("asks this machine only")
        if hosts and all(_LOOPBACK.fullmatch(host) for host in hosts)
        else None
    )


def _parted(
    fields: Sequence[Field], flags: str, valued: str, long: frozenset[str]
) -> tuple[list[Field] | None, list[tuple[str, Field]]]:
    """Return the addresses and the options with their values; no addresses if an option is not known."""
    takes = {word.rstrip("="): word.endswith("=") for word in long}
    addresses, values, at = list[Field](), list[tuple[str, Field]](), 0
    while at < len(fields):
        field, at = fields[at], at + 1
        text = field.text
        if not text.startswith("-") or text == "-":
            if text.startswith(ANYTHING) or field.many:
                return None, []
            addresses.append(field)
            continue
        name, equals, value = text.partition("=")
        if text.startswith("--"):
            if name not in takes:
                return None, []
            option, own = name, bool(equals) or not takes[name]
        else:
            taker = next((place for place, letter in enumerate(text[1:], 1) if letter in valued), None)
            if not set(text[1:taker]) <= set(flags):
                return None, []
            option = f"-{text[taker]}" if taker else text[:2]
            value, own = (text[taker + 1 :], taker < len(text) - 1) if taker else ("", True)
        if own:
            values.append((option, Field(value)))
        elif at < len(fields):
            values.append((option, fields[at]))
            at += 1
        if values and values[-1][0] == "--url":
            addresses.append(values.pop()[1])
    return addresses, values


def _files(call: Call, values: Sequence[tuple[str, Field]]) -> list[Finding]:
    """Return the finding on the files that options name."""
    found = list[Finding]()
    for option, field in values:
        if (
            option in _WRITES
            and field.text not in {"", "-"}
            and not (call.name == "curl" and option in {"-O", "-P"})
        ):
            found.append(written(call, [field]))
        elif field.text.startswith("@") or (option in {"-F", "--form"} and "=@" in field.text):
            found.append(read_word(call, Field(field.text.rpartition("@")[2].partition(";")[0])))
        elif option in {"-T", "-b", "--cookie"} and field.text:
            found.append(read_word(call, field))
    if call.name == "curl" and any(option == "-O" for option, _ in values):
        found.append(written(call, [Field("downloaded")]))
    return found
