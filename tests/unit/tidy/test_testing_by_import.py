from pathlib import Path

import pytest
import testing_by_import
from findings import Finding


def files(
    root: Path, source: str, row: int, *, path: str = "tests/test_a.py", code: str = "F401"
) -> set[str]:
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(source, encoding="utf-8")
    return testing_by_import.files(root, [Finding(path, code, "unused-import", "message", row)])


INSIDE = "import os\n\n\ndef test_it_can_be_imported():\n    import json\n"


def test_an_unused_import_inside_a_test_may_be_the_test(tmp_path):
    assert files(tmp_path, INSIDE, 5) == {"tests/test_a.py"}


@pytest.mark.parametrize(
    "change",
    [{"row": 1}, {"row": 5, "path": "pkg/a.py"}, {"row": 5, "code": "F541"}, {"row": 1, "source": "def ("}],
)
def test_other_findings_are_none(tmp_path, change):
    assert files(tmp_path, **({"source": INSIDE} | change)) == set()
