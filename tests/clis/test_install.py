"""The installer: idempotent, whole or not at all, and it names what it could not have. npm is a script here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.clis.install import main
from tests.clis.pinned import NODE, pins

NPM = """#!/bin/sh
echo "$@" >> "$CALLS"
for last; do :; done
folder=$(echo "$@" | sed 's/.*--prefix \\([^ ]*\\) .*/\\1/')
version=${last##*@}
case $last in $BROKEN) echo "no such package" >&2; exit 3 ;; esac
mkdir -p "$folder/node_modules/.bin"
for name in node claude codex; do
    printf '#!/bin/sh\\necho v%s\\n' "${LIE:-$version}" > "$folder/node_modules/.bin/$name"
    chmod +x "$folder/node_modules/.bin/$name"
done
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An npm that makes programs which say their version; the file that its calls are in."""
    (tmp_path / "bin").mkdir()
    npm = tmp_path / "bin" / "npm"
    npm.write_text(NPM)
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("BROKEN", "none")
    (tmp_path / "calls").touch()
    return tmp_path / "calls"


def install(cache: Path, *words: str) -> int:
    return main([*words, "--into", str(cache)])


def test_what_is_asked_for_is_installed_with_node_and_only_once(tmp_path: Path, calls: Path) -> None:
    cache = tmp_path / "cache"
    assert install(cache, "codex") == 0
    assert pins()[NODE].is_installed(cache)
    assert pins()["codex"].is_installed(cache)
    assert [line.split()[-1] for line in calls.read_text().splitlines()] == [
        "node@22.23.3",
        "@openai/codex@0.169.0",
    ]
    assert install(cache, "codex", "--strict") == 0
    assert len(calls.read_text().splitlines()) == 2


def test_what_cannot_be_had_is_named_and_fails_only_when_strict(
    tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BROKEN", "@openai/*")
    cache = tmp_path / "cache"
    assert install(cache, "codex", "claude") == 0
    said = capsys.readouterr().err
    assert "codex 0.169.0: NOT HAD: npm ended with 3: no such package" in said
    assert "could not be had: codex" in said
    assert pins()["claude"].is_installed(cache)
    assert install(cache, "codex", "--strict") == 1


def test_another_version_than_the_pinned_one_is_not_taken(
    tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("LIE", "1.0.0")
    assert install(cache, "codex", "--strict") == 1
    assert not pins()["codex"].is_installed(cache)
    monkeypatch.delenv("LIE")
    assert install(cache, "codex", "--strict") == 0


def test_a_half_installed_one_is_made_anew(tmp_path: Path, calls: Path) -> None:
    cache = tmp_path / "cache"
    left = pins()["codex"].folder(cache) / "node_modules" / "left"
    left.mkdir(parents=True)
    assert install(cache, "codex") == 0
    assert not left.exists()


def test_a_list_installs_nothing(tmp_path: Path, calls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert install(tmp_path / "cache", "--list") == 0
    assert "aider 0.86.2: not installed" in capsys.readouterr().err
    assert not calls.read_text()
    assert not (tmp_path / "cache").exists()


def test_an_unknown_name_is_refused(tmp_path: Path, calls: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        install(tmp_path / "cache", "kiro")
    assert "no such CLI: kiro" in capsys.readouterr().err
    assert not calls.read_text()
