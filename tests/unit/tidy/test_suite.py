"""Real runs of small test suites, by the ways that a project may want them run."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import suite
from outcomes import Outcomes
from suite import Runner, SuiteRun

PYTEST = Runner("pytest", sys.executable)
UNITTEST = Runner("unittest", sys.executable)


def lay(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def copy(tmp_path):
    folder = tmp_path / "outer" / "project"
    folder.mkdir(parents=True)
    (folder.parent / "pytest.ini").touch()
    return folder


def chosen(copy: Path, limit: float = 60) -> tuple[Runner, SuiteRun]:
    return next(found for found in suite.choose(copy, [], limit) if found[1].outcomes.passed)


def short(outcomes: Outcomes) -> tuple[list[str], list[str]]:
    return sorted(outcomes.passed), sorted(outcomes.failed)


PACKAGE = {"src/shop/__init__.py": "PRICE = 3\n", "src/shop/unused.py": ""}
TESTS = """
import os, pytest, shop

def test_price(): assert shop.PRICE == 3
def test_wrong(): assert shop.PRICE == 4
@pytest.mark.parametrize("what", [object(), "a b::c/d"])
def test_each(what): assert what
@pytest.mark.skip
def test_not(): pass
@pytest.mark.xfail
def test_known(): assert False
def test_place(): assert "ORCHESTRATOR_RUN" not in os.environ
"""


def test_pytest_runs_the_copy_and_reports_all_outcomes(copy, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_RUN", "r-1")
    runner, ran = chosen(lay(copy, PACKAGE | {"tests/test_shop.py": TESTS}))
    assert runner == PYTEST
    passed, failed = short(ran.outcomes)
    assert passed == [
        "tests/test_shop.py::test_each[a b::c/d]",
        "tests/test_shop.py::test_each[what0]",
        "tests/test_shop.py::test_place",
        "tests/test_shop.py::test_price",
    ]
    assert failed == ["tests/test_shop.py::test_wrong"]
    assert sorted(ran.outcomes.skipped) == ["tests/test_shop.py::test_known", "tests/test_shop.py::test_not"]
    assert ran.outcomes.imported == {"src/shop/__init__.py", "tests/test_shop.py"}
    assert not list(copy.rglob("__pycache__"))


def test_only_the_tests_asked_for_are_run_however_they_are_named(copy):
    lay(
        copy,
        PACKAGE | {"tests/test_shop.py": TESTS, "tests/test_more.py": "raise SystemExit('not to be read')\n"},
    )
    wanted = {
        "tests/test_shop.py::test_each[a b::c/d]",
        "tests/test_shop.py::test_wrong",
        "tests/test_gone.py::test",
    }
    ran = suite.run(copy, PYTEST, 60, only=wanted)
    assert short(ran.outcomes) == (
        ["tests/test_shop.py::test_each[a b::c/d]"],
        ["tests/test_shop.py::test_wrong"],
    )


def test_a_module_that_cannot_be_read_hides_no_other(copy):
    lay(copy, {"test_a.py": "import nosuchmodule\n", "test_b.py": "def test_b(): pass\n"})
    ran = suite.run(copy, PYTEST, 60)
    assert ran.outcomes.passed == {"test_b.py::test_b"}
    assert "nosuchmodule" in ran.outcomes.unread["test_a.py"]


@pytest.mark.parametrize("options", ["--cov=shop", "-x --strict-nonsense", "-n 4 --lf"])
def test_options_that_need_a_plugin_are_left_out(copy, options):
    lay(copy, {"setup.cfg": f"[tool:pytest]\naddopts = {options}\n", "test_a.py": "def test_a(): pass\n"})
    runner, ran = chosen(copy)
    assert "addopts=" in runner.options
    assert ran.outcomes.passed == {"test_a.py::test_a"}
    assert "without the project's options" in str(runner)


def test_names_that_nose_looks_for_are_found(copy):
    _, ran = chosen(lay(copy, {"shop/__init__.py": "", "shop/tests.py": "def test_a(): pass\n"}))
    assert ran.outcomes.passed == {"shop/tests.py::test_a"}


CASES = """
import unittest, shop
class Prices(unittest.TestCase):
    def test_price(self): self.assertEqual(shop.PRICE, 3)
    def test_wrong(self):
        with self.subTest("one"): self.assertEqual(shop.PRICE, 4)
    @unittest.skip("no")
    def test_not(self): pass
    @unittest.expectedFailure
    def test_known(self): self.fail()
"""


@pytest.mark.parametrize("package", [True, False])
def test_unittest_reports_the_same(copy, package):
    lay(copy, PACKAGE | {"tests/test_shop.py": CASES, "tests/test_bad.py": "import nosuchmodule\n"})
    if package:
        (copy / "tests" / "__init__.py").touch()
    prefix = "tests.test_shop" if package else "test_shop"
    ran = suite.run(copy, UNITTEST, 60)
    assert ran.outcomes.passed == {f"{prefix}.Prices.test_price"}
    assert len(ran.outcomes.unread) == 1
    assert f"{prefix}.Prices.test_wrong" in ran.outcomes.failed
    assert len(ran.outcomes.skipped) == 2
    assert "src/shop/__init__.py" in ran.outcomes.imported
    again = suite.run(copy, UNITTEST, 60, only=[f"{prefix}.Prices.test_price"])
    assert len(again.outcomes) == 1


def test_an_interpreter_that_imports_another_copy_is_not_asked(copy, tmp_path, monkeypatch):
    lay(copy, {"shop/__init__.py": "", "test_a.py": "def test_a(): pass\n"})
    assert suite._imports_the_copy(sys.executable, copy)
    monkeypatch.setattr(suite, "surroundings", lambda copy, python: {"PYTHONPATH": str(tmp_path / "else")})
    lay(tmp_path / "else", {"shop/__init__.py": ""})
    assert not suite._imports_the_copy(sys.executable, copy)


def test_the_projects_of_a_repository_import_each_other(copy):
    lay(
        copy,
        {
            "packages/till/pyproject.toml": "",
            "packages/till/src/till/__init__.py": "import store.shelf\n",
            "packages/store/setup.py": "",
            "packages/store/src/store/shelf/__init__.py": "",  # a namespace: `store` has none
            "packages/till/tests/test_till.py": "import till\ndef test_till(): pass\n",
            "books/__init__.py": "",
            "books/random/setup.py": "",
            "books/random/random.py": "raise SystemExit\n",
            "docs/setup.py": "",
            "docs/till.py": "raise SystemExit\n",
        },
    )
    _, ran = chosen(copy)
    assert ran.outcomes.passed == {"packages/till/tests/test_till.py::test_till"}
    assert ran.outcomes.imported >= {
        "packages/till/src/till/__init__.py",
        "packages/store/src/store/shelf/__init__.py",
    }
    assert copy in suite.import_roots(copy)


@pytest.mark.parametrize("runner", [PYTEST, UNITTEST])
def test_tests_that_import_the_users_tree_do_not_count(copy, tmp_path, runner):
    home = lay(tmp_path / "home", {"odd/shop.py": "", ".venv/lib/site-packages/installed.py": ""})
    reach = f"sys.path += [{str(home / 'odd')!r}, {str(home / '.venv/lib/site-packages')!r}]"
    case = "class Case(unittest.TestCase):\n    def test(self): pass\n"
    lay(copy, {"test_shop.py": f"import sys, unittest\n{reach}\nimport installed, shop\n{case}"})
    ran = suite.run(copy, runner, 60, homes=[home])
    assert len(ran.outcomes.passed) == 1
    assert ran.outcomes.elsewhere == {"odd/shop.py"}
    assert not ran.outcomes.tells
    assert "your own odd/shop.py" in suite.why_none(ran)
    assert suite.run(copy, runner, 60).outcomes.tells


def test_the_virtualenv_of_the_project_comes_first(copy, tmp_path):
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    lay(copy, {"test_a.py": "def test_a(): pass\n"})
    runner, _ = next(iter(suite.choose(copy, [tmp_path], 60)))
    # The link leads to an interpreter without pytest of its own, or to this one: asked first in any case.
    assert str(tmp_path) in suite._virtualenvs([tmp_path])[0]
    assert runner.kind == "pytest"


def test_why_no_test_passed():
    assert suite.why_none(SuiteRun(Outcomes(), 5, 0.1, "no tests ran")) == ""
    assert suite.why_none(SuiteRun(Outcomes(), 4, 0.1, "x\nImportError: no y\nz\n")) == "ImportError: no y"
    failed = Outcomes(failed={"test_a.py": "E   ModuleNotFoundError: no z\n"})
    assert suite.why_none(SuiteRun(failed, 2, 0.1, "")) == "ModuleNotFoundError: no z"


def test_a_runner_reads_as_it_was_written():
    runner = Runner("pytest", "/p", ("-o", "addopts="))
    assert Runner.from_json({**runner.to_json(), "options": list(runner.options)}) == runner
