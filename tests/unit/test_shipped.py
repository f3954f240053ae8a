"""Where the folders lie that ship."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator import shipped as module
from orchestrator.shipped import shipped

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "orchestrator"
    package.mkdir()
    monkeypatch.setattr(module, "_PACKAGE", package)
    return package


def test_a_checkout_has_them_beside_the_package(package: Path) -> None:
    (package.parent / "agents").mkdir()
    assert shipped("agents") == package.parent / "agents"


def test_schemas_lie_with_the_documents_of_a_checkout(package: Path) -> None:
    (package.parent / "docs" / "reference" / "schemas").mkdir(parents=True)
    assert shipped("schemas") == package.parent / "docs" / "reference" / "schemas"


def test_wheel_carries_them_and_no_namesake(package: Path) -> None:
    """A wheel carries them and never takes a neighbour of that name."""
    (package / "_shipped" / "tasks").mkdir(parents=True)
    (package.parent / "tasks").mkdir()
    (package.parent / "agents").mkdir()
    assert shipped("tasks") == package / "_shipped" / "tasks"
    with pytest.raises(FileNotFoundError, match="install it again"):
        shipped("agents")
