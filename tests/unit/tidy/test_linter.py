from collections.abc import Iterable
from pathlib import Path

import pytest
from errors import LinterError
from findings import Finding
from linter import Manner, findings, fix, survey
from ruff_configuration import own_configuration

UNUSED = "import os\n\nprint(f'x')\n"


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_toml", ".toml").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def codes(found: Iterable[Finding]) -> list[str]:
    return sorted(finding.code for finding in found)


def test_the_projects_own_rules_count(tmp_path):
    write(
        tmp_path, a_py=UNUSED, pyproject_toml='[tool.ruff]\nfix = true\n[tool.ruff.lint]\nselect = ["F541"]\n'
    )
    manner, found = survey(tmp_path, ["a.py"])
    assert manner.own_rules
    assert codes(found) == ["F541"]
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == UNUSED


def test_without_own_rules_nothing_above_the_project_is_followed(tmp_path):
    write(
        tmp_path,
        ruff_toml='lint.select = ["D"]\n',
        p__a_py=UNUSED,
        p__pyproject_toml="[project]\nname = 'x'\n",
    )
    manner, found = survey(tmp_path / "p", ["a.py"])
    assert not manner.own_rules
    assert codes(found) == ["F401", "F541"]


def test_the_oldest_python_of_a_repositorys_projects_counts(tmp_path):
    write(
        tmp_path,
        pyproject_toml="[project]\nrequires-python = '>=3.10'\n",
        packages__old__setup_py="setup(python_requires='>=3.8')\n",
        packages__new__pyproject_toml="[project]\nrequires-python = '>=3.12'\n",
        tests__case__setup_py="setup(python_requires='>=2.7')\n",
    )
    assert survey(tmp_path, ["packages/old/setup.py"])[0].target == "py38"
    write(tmp_path, packages__older__setup_py="setup(python_requires='>=2.7')\n")
    assert survey(tmp_path, ["packages/old/setup.py"])[0].without == ("UP", "SIM")


@pytest.mark.parametrize(
    "extended", ["../ruff.toml", "/etc/ruff.toml", "~/ruff.toml", "$HOME/ruff.toml", "sub/x.toml"]
)
def test_a_configuration_that_reaches_out_is_not_used(tmp_path, extended):
    write(
        tmp_path, ruff_toml='lint.select = ["D"]\n', p__a_py=UNUSED, p__ruff_toml=f'extend = "{extended}"\n'
    )
    write(tmp_path, p__sub__x_toml='extend = "../../ruff.toml"\n')
    manner, found = survey(tmp_path / "p", ["a.py"])
    assert not manner.own_rules
    assert "reaches out of the project" in manner.note
    assert codes(found) == ["F401", "F541"]


def test_one_that_is_a_link_to_elsewhere_is_not_used(tmp_path):
    write(tmp_path, ruff_toml='lint.select = ["D"]\n', p__a_py=UNUSED)
    (tmp_path / "p" / "ruff.toml").symlink_to(tmp_path / "ruff.toml")
    assert own_configuration(tmp_path / "p", ["a.py"])[0] is False


def test_one_that_ruff_refuses_is_said(tmp_path):
    write(tmp_path, a_py=UNUSED, ruff_toml='lint.select = ["NOSUCHRULE"]\n')
    manner, found = survey(tmp_path, ["a.py"])
    assert "could not be used" in manner.note
    assert codes(found) == ["F401", "F541"]


@pytest.mark.parametrize(
    ("name", "text", "without"),
    [
        ("setup.cfg", "[isort]\nprofile = google\n", ("I",)),
        ("setup.py", "setup(python_requires='>=2.7')\n", ("UP", "SIM")),
        ("setup.py", "setup(python_requires='>=3.9')\n", ()),
    ],
)
def test_the_default_rules_suit_the_project(tmp_path, name, text, without):
    (tmp_path / name).write_text(text, encoding="utf-8")
    write(tmp_path, a_py="x = 1\n")
    assert survey(tmp_path, ["a.py"])[0].without == without


@pytest.mark.parametrize(("name", "without"), [("a.py", ("UP", "SIM")), ("tests/data.py", ())])
def test_a_file_that_is_no_python_3_is_taken_for_python_2(tmp_path, name, without):
    (tmp_path / "tests").mkdir()
    (tmp_path / name).write_text("print 'x'\n", encoding="utf-8")
    assert survey(tmp_path, [name])[0].without == without


def test_names_are_neither_options_nor_lists_of_names(tmp_path):
    names = ["-x.py", "@a.py", "b c.py", "new\nline.py", "--config=x.py"]
    for name in names:
        (tmp_path / name).write_text(UNUSED, encoding="utf-8")
    found = findings(tmp_path, Manner(own_rules=False, target="py39"), names)
    assert {finding.path for finding in found} == set(names)


def test_a_folder_ruff_in_the_project_is_not_the_program(tmp_path):
    write(tmp_path, a_py=UNUSED)
    (tmp_path / "ruff").mkdir(exist_ok=True)
    (tmp_path / "ruff" / "__main__.py").write_text("open('ran', 'w')\n", encoding="utf-8")
    assert codes(findings(tmp_path, Manner(own_rules=False, target="py39"), ["a.py"])) == ["F401", "F541"]
    assert not (tmp_path / "ran").exists()


def test_only_requested_rules_are_fixed(tmp_path):
    """An unused noqa is judged by all rules."""
    write(tmp_path, a_py="import os  # noqa: F401\nprint(f'x')  # noqa: E501\n")
    write(tmp_path, ruff_toml='lint.select = ["F", "RUF100"]\n')
    fix(tmp_path, Manner(own_rules=True, target=""), ["a.py"], ["RUF100"], unsafe=False)
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == "import os  # noqa: F401\nprint(f'x')\n"


def test_a_file_that_is_not_utf_8_is_a_finding(tmp_path):
    (tmp_path / "a.py").write_bytes(b"x = '\xe9'\n")
    assert codes(findings(tmp_path, Manner(own_rules=False, target="py39"), ["a.py"])) == ["E902"]


def test_ruff_says_what_is_wrong(tmp_path):
    write(tmp_path, a_py=UNUSED)
    with pytest.raises(LinterError, match="Ruff failed: "):
        findings(tmp_path, Manner(own_rules=False, target="py2"), ["a.py"])


def test_a_manner_reads_as_it_was_written():
    manner = Manner(own_rules=False, target="py39", without=("I",), note="so")
    assert Manner.from_json({**manner.to_json(), "without": ["I"]}) == manner
    with pytest.raises(LinterError):
        Manner.from_json({})
