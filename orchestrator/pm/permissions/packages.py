"""Installing packages by name: into an environment or folder of the project, from the usual indexes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from orchestrator.formats.text import names
from orchestrator.model.permission import PermissionDecision
from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.fields import Field
from orchestrator.pm.permissions.files import read_word, written
from orchestrator.pm.permissions.finding import Finding, strictest
from orchestrator.pm.permissions.paths import inside

_FLAGS: Final = names(
    "-q -qq -v -U -e -r -c -D -E -O -P -W -g --quiet --verbose --upgrade --editable --requirement --constraint"
    " --no-cache-dir"
    " --no-cache --no-deps --pre --force-reinstall --no-build-isolation --disable-pip-version-check"
    " --prefer-binary --no-input"
    " --break-system-packages --progress-bar --dry-run --save-dev --save --save-exact --save-optional --no-save"
    " --no-audit"
    " --no-fund --legacy-peer-deps --force --prefer-offline --offline --frozen-lockfile --no-frozen-lockfile"
    " --ignore-scripts"
    " --production --omit --include --silent --loglevel --no-progress --dev --group --extra --all-extras"
    " --all-groups --no-dev"
    " --frozen --locked --no-sync --with --without --no-root --no-update --no-interaction --sync"
    " --upgrade-package --refresh --optional"
    " --immutable --mode --network-timeout --exact --tilde --peer --workspace --recursive --filter --shamefully-hoist"
    " --prefer-frozen-lockfile --features --no-default-features --path --dev --build --only-binary --no-binary"
    " --compile"
    " --ignore-installed --yes -y -n --no-lockfile --ignore-engines --ignore-optional --only --lockfile-only"
    " --user-agent"
    " --python --seed --system-site-packages --clear --prompt -p --no-emit-project -o --output-file --universal"
    " --log-level"
    " --no-warn-script-location --root-user-action --default-timeout --timeout --retries --use-pep517"
)
_VALUED: Final = names(
    "-r -c -p -o --requirement --constraint --progress-bar --loglevel --group --extra --with --without --omit --include"
    " --network-timeout --mode --filter --features --only-binary --no-binary --python --prompt --output-file"
    " --only --timeout"
    " --retries --default-timeout --upgrade-package -P --optional --path --root-user-action --log-level --editable -e"
)
_FILES: Final = names("-r -c --requirement --constraint -e --editable --path")
_PLAIN: Final = re.compile(
    r"(?:@[a-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])?(?:@[\w.^~*<>=|-]+)?(?:\s*(?:[=<>!~]=?=?)\s*[\w.*+!-]+(?:,[=<>!~]=?[\w.*]+)*)?"
)
"""A package by its name, perhaps with a version: no address, no repository."""

_LOOKS: Final = {
    "pip": names("list show freeze check inspect debug cache index help config download --version -V"),
    "npm": names(
        "ls list view info show outdated audit explain why root prefix bin help pkg query fund doctor ping"
        " config cache --version -v -version version whoami"
    ),
    "pnpm": names("ls list why outdated audit root bin help --version -v licenses"),
    "yarn": names("list why info outdated audit help --version -v versions check"),
    "bun": names("pm --version -v help outdated"),
    "uv": names("tree version help --version -V export cache self"),
    "poetry": names("show check version env config --version -V about list"),
    "pipenv": names("graph check --version --venv"),
    "pdm": names("list show info --version"),
    "bundle": names("list show info outdated check exec config platform version --version"),
    "gem": names("list search info which environment --version contents specification"),
    "composer": names("show validate outdated licenses --version depends why diagnose"),
    "conda": names("list info --version search"),
}
_INSTALLS: Final = {
    "npm": names("install i ci add uninstall remove rm un update up dedupe prune rebuild init"),
    "pnpm": names("install i add remove rm update up dedupe prune rebuild approve-builds fetch import"),
    "yarn": names("install add remove upgrade up dedupe"),
    "bun": names("install i add remove rm update"),
    "uv": names("sync add remove lock venv init"),
    "poetry": names("install add remove lock update init build"),
    "pipenv": names("install sync lock uninstall update"),
    "pdm": names("install add remove lock sync update build"),
    "bundle": names("install update add lock"),
    "composer": names("install update require remove dump-autoload dumpautoload"),
}
_NEVER: Final = re.compile(
    r"-g|--global|--location(?:=global)?|--user|--target.*|-t|--prefix.*|--root|--root=.*|--registry.*|--index.*|--extra-index.*"
    r"|--find-links.*|-f|-i|--trusted-host.*|--default-index.*|--system|--cert.*|--proxy.*|--script-shell.*|--userconfig.*"
    r"|--globalconfig.*|-C|--dir.*|--cwd.*|--node-options.*|--directory.*|--project.*|--config-settings.*|--cafile.*|--src.*"
    r"|--install-option.*|--global-option.*|--python-preference.*|--install-dir.*"
)
_SENDS: Final = re.compile(
    r"(?:^|[:_./-])(?:deploy|publish|release|upload|push|promote|ship)(?:$|[:_./-])", re.IGNORECASE
)


def packaging(call: Call) -> Finding | None:
    """Return the finding on a package manager; None if there is no default for its subcommand."""
    name = "pip" if call.name in {"pip", "pip3"} else call.name
    verbs = [field for field in call.rest if not field.option]
    verb = verbs[0].text if verbs else (call.texts[0] if call.texts else "")
    if verbs and not verbs[0].certain:
        return None
    if any(_NEVER.fullmatch(text) for text in call.texts) and name not in {"bundle", "gem", "composer"}:
        return None
    if verb in _LOOKS.get(name, frozenset()) and not _sets(name, verb, call):
        return call.allow("looks at packages")
    if name == "pip" and verb in {"install", "uninstall", "wheel"}:
        return _installed(call, verbs) if in_environment(call) else None
    if name == "uv" and verb == "pip":
        inner = verbs[1].text if len(verbs) > 1 else ""
        return (
            call.allow("looks at packages")
            if inner in {"list", "show", "freeze", "check", "tree", "compile"}
            else _installed(call, verbs[1:])
        )
    if not verb and name in {"yarn", "pnpm", "bun"}:
        return _installed(call, [])
    if verb in _INSTALLS.get(name, frozenset()):
        return _installed(call, verbs)
    return None


def in_environment(call: Call) -> bool:
    """Return whether `pip` works on an environment that is in a folder which the run may write."""
    program = call.fields[0].text
    if "/" in program:
        return call.lies_inside(call.fields[0])
    return call.scope.venv


def sends(name: str) -> bool:
    """Return whether a script or target of this name publishes something."""
    return _SENDS.search(name) is not None


def _sets(name: str, verb: str, call: Call) -> bool:
    """Return whether a command that usually only shows something would change something."""
    rest = call.texts[list(call.texts).index(verb) + 1 :]
    if verb in {"config", "cache", "self", "pkg", "env", "pm"}:
        return not rest or rest[0] not in {
            "list",
            "get",
            "show",
            "dir",
            "info",
            "ls",
            "--list",
            "path",
            "version",
            "use",
        }
    if verb == "version" and name in {"npm", "poetry", "uv"}:
        return bool(rest)
    return (verb == "audit" and "fix" in rest) or (verb == "exec")


def _installed(call: Call, verbs: Sequence[Field]) -> Finding | None:
    """Return the finding on packages to install; None if one comes from elsewhere than the index."""
    findings = [call.allow("installs into the project")]
    takes, wanted = "", list[Field]()
    for field in call.rest:
        text = field.text
        name = text.partition("=")[0] if text.startswith("--") else text
        if takes:
            if takes in _FILES:
                findings.append(_local(call, field))
            elif takes in {"-o", "--output-file"}:
                findings.append(written(call, [field]))
            takes = ""
        elif text.startswith("-"):
            if name not in _FLAGS or not field.certain:
                return None
            takes = (
                text
                if text in _VALUED
                and not (text in {"-P", "-p", "-o", "-c", "-e"} and call.name in {"npm", "yarn", "pnpm"})
                else ""
            )
            if "=" in text and name in _FILES:
                findings.append(_local(call, Field(text.partition("=")[2])))
        elif field not in verbs[:1]:
            wanted.append(field)
    for field in wanted:
        if not field.certain:
            return None
        if _PLAIN.fullmatch(field.text) and not field.text.endswith((".whl", ".tgz", ".gz", ".zip")):
            continue
        findings.append(_local(call, field))
    return strictest(findings)


def _local(call: Call, field: Field) -> Finding:
    """Return the finding on a package in a folder, or at an address."""
    text = re.sub(r"\[[\w,.-]+\]$", "", field.text)
    text = text.removeprefix("file:").removeprefix("link:")
    shorthand = (
        call.name in {"npm", "pnpm", "yarn", "bun"} and text == field.text and not text.startswith((".", "/"))
    )
    if (
        shorthand
        or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text)
        or "@" in text
        or field.tilde
        or not field.known
    ):
        return call.doubt("takes code from elsewhere than the index of packages")
    paths = list(call.paths(text))
    if all(
        path and (inside(path, call.case.workplace.grants) or inside(path, call.case.workplace.temporary))
        for path in paths
    ):
        return read_word(call, Field(text))
    found = read_word(call, Field(text))
    return (
        found
        if found.decision is PermissionDecision.DENY
        else call.doubt("takes code from outside of the run's folders")
    )
