import pytest
import workshop
from linter import Manner
from repository import Repository
from subtasks import Subtask

MANNER = Manner(own_rules=False, target="py39")


@pytest.fixture
def opened(project):
    """Opens a workshop for one subtask on some files."""

    def open_it(files, *rules, unsafe=False):
        folder = project(files)
        subtask = Subtask("x", "Mend it", rules, tuple(files), 1, unsafe)
        return workshop.opened(Repository(folder), MANNER, subtask, list(files))

    return open_it


def test_only_rules_of_the_subtask_are_fixed_in_a_copy(opened, tmp_path):
    source = "import os\n\nprint(f'x')\n"
    with opened({"a.py": source, "b.py": source}, "F541") as shop:
        assert shop.to_mend == 2
        assert shop.mended() == dict.fromkeys(("a.py", "b.py"), b"import os\n\nprint('x')\n")
        done = shop.polished(shop.mended())
    assert (done.before, done.after, done.refused) == (2, 0, {})
    assert (tmp_path / "project" / "a.py").read_text(encoding="utf-8") == source


def test_what_a_fix_leaves_behind_is_its_own_to_clear_up(opened):
    source = "from typing import List\n\nx: List[int] = []\n"
    with opened({"a.py": source}, "UP006", unsafe=True) as shop:
        done = shop.polished(shop.mended())
    assert done.contents == {"a.py": b"\nx: list[int] = []\n"}


def test_leftover_of_a_fix_stays_if_another_file_uses_it(opened):
    source = "from typing import List\n\nx: List[int] = []\n"
    with opened({"a.py": source, "b.py": "from a import List\n"}, "UP006", unsafe=True) as shop:
        done = shop.polished(shop.mended())
    assert done.contents == {"a.py": source.replace(": List", ": list").encode()}


def test_protected_imports_survive_other_rules(project):
    source = "import os\n\nprint(f'x')\n"
    folder = project({"a.py": source, "b.py": source})
    subtask = Subtask(
        "x", "Mend it", ("F401", "F541"), ("a.py", "b.py"), 3, unsafe=False, keep_imports=("a.py",)
    )
    with workshop.opened(Repository(folder), MANNER, subtask, list(subtask.files)) as shop:
        done = shop.polished(shop.mended())
        singly = shop.with_fixes(shop.single_fixes(["a.py", "b.py"]))
    assert done.contents == singly == {"a.py": b"import os\n\nprint('x')\n", "b.py": b"\nprint('x')\n"}


def test_a_file_in_which_ruff_would_find_more_is_refused(opened):
    with opened({"a.py": "x = f'y'\n"}, "F541") as shop:
        done = shop.polished({"a.py": b"x = 'y'\nif x: pass\nif x: pass\n"})
    assert done.contents == {}
    assert "instead of 1" in done.refused["a.py"]
    assert done.after == 1


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"x = (\n", "no longer compile"), (b"x = 'y'\r\n", "line ends"), ("\ufeffx = 'y'\n".encode(), "mark")],
)
def test_a_change_of_manner_is_refused(opened, data, why):
    with opened({"a.py": "x = f'y'\n"}, "F541") as shop:
        assert why in shop.polished({"a.py": data}).refused["a.py"]


def test_line_ends_and_byte_order_mark_survive_ruff(opened):
    source = "\ufeffimport os\r\nimport json\r\n\r\nprint(json)\r\n".encode()
    with opened({"a.py": source}, "F401") as shop:
        done = shop.polished(shop.mended())
    assert done.contents == {"a.py": source.replace(b"import os\r\n", b"")}


def test_single_fixes_are_those_of_the_subtask(opened):
    source = "import os\n\nx = 1\nif x == None:\n    print(f'x', f'y')\n"
    with opened({"a.py": source}, "F541") as shop:
        fixes = shop.single_fixes(["a.py"])
        assert len(fixes) == 2
        assert shop.with_fixes(fixes[:1]) == {"a.py": source.replace("f'x'", "'x'").encode()}


def test_unsafe_ones_only_where_the_subtask_is_to_try_them(opened):
    with opened({"a.py": "x = 1\nprint(x == None)\n"}, "E711") as shop:
        assert (shop.mended(), shop.single_fixes(["a.py"])) == ({}, [])


def test_they_are_tried_where_it_is(opened):
    with opened({"a.py": "x = 1\nprint(x == None)\n"}, "E711", unsafe=True) as shop:
        assert (
            shop.mended()
            == shop.with_fixes(shop.single_fixes(["a.py"]))
            == {"a.py": b"x = 1\nprint(x is None)\n"}
        )
