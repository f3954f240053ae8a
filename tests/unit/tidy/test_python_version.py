import pytest
import python_version


@pytest.mark.parametrize(
    ("required", "classifiers", "ruff", "python2"),
    [
        (">=3.9", [], "py39", False),
        (">=3.10,<4", [("3", "8")], "py310", False),
        ("~=3.11", [], "py311", False),
        ("==3.12.*", [], "py312", False),
        (">=2.7,!=3.0.*", [], "py37", True),
        (">= 3", [], "py37", False),
        (">=3.99", [], "py315", False),
        ("", [], "py37", False),
        ("", [("3", ""), ("3", "12"), ("3", "9")], "py39", False),
        ("", [("2", ""), ("3", "6")], "py37", True),
        ("<4", [("3", "13")], "py313", False),
    ],
)
def test_the_oldest_python(required, classifiers, ruff, python2):
    oldest = python_version.decide(required, classifiers)
    assert (oldest.ruff, oldest.python2) == (ruff, python2)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[project]\nname = "x"\nrequires-python = ">=3.9"\n'),
        ("setup.cfg", "[options]\npython_requires = >=3.9\n"),
        ("setup.py", "from setuptools import setup\nsetup(name='x', python_requires='>=3.9')\n"),
    ],
)
def test_it_is_read_from_any_of_the_three_files(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert python_version.of_project(tmp_path).ruff == "py39"


def test_garbled_files_say_nothing(tmp_path):
    for name in ("pyproject.toml", "setup.cfg", "setup.py"):
        (tmp_path / name).write_bytes(b"\xff[[ (\0")
    assert python_version.of_project(tmp_path).ruff == "py37"
