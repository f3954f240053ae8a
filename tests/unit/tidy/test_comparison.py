import json

import baseline
import pytest
from baseline import Baseline
from comparison import Comparison, compare, suspects
from errors import ArtifactError
from repository import Repository
from scratch import copied

from tests.unit.tidy.conftest import git

FILES = {
    "shop/__init__.py": "",
    "shop/tags.py": "TAGS = {'a'}\n",
    "shop/show.py": "import shop.tags\n\n\ndef show():\n    return sorted(shop.tags.TAGS)\n",
    "tests/test_show.py": "from shop import show\n\n\ndef test_show():\n    assert show.show() == ['a']\n"
    "\n\ndef test_wrong():\n    assert not show.show()\n",
}
SHOW = "tests/test_show.py::test_show"


@pytest.fixture
def repository(project):
    return Repository(project(FILES))


def test_broken_test_is_reported_with_the_file_it_names(repository):
    before = baseline.take(repository, repository.folder, 60)
    assert before.outcomes.passed == {SHOW}
    assert list(before.outcomes.failed) == ["tests/test_show.py::test_wrong"]
    assert before.tested == {"shop/__init__.py", "shop/tags.py", "shop/show.py"}

    (repository.folder / "shop" / "show.py").write_text(
        "def show():\n    return sorted(shop.tags.TAGS)\n", encoding="utf-8"
    )
    (repository.folder / "shop" / "tags.py").write_text("TAGS = {'a'} \n", encoding="utf-8")
    found = compare(repository, before, repository.folder, before.commit)
    assert found.worse
    assert list(found.newly_failing) == [SHOW]
    assert "NameError" in found.newly_failing[SHOW]
    assert found.suspects == ("shop/show.py",)
    assert "Newly failing: 1." in found.summary()


def test_a_test_that_passes_when_run_again_does_not_count(repository, tmp_path):
    before = baseline.take(repository, repository.folder, 60)
    (repository.folder / "shop" / "tags.py").write_text(
        f"import pathlib\nonce = pathlib.Path({str(tmp_path / 'once')!r})\n"
        "TAGS = {'a'} if once.exists() else set()\nonce.touch()\n",
        encoding="utf-8",
    )
    found = compare(repository, before, repository.folder, before.commit)
    assert not found.worse
    assert found.unsteady == (SHOW,)
    assert "passed when run again" in found.summary()


def test_file_that_no_longer_compiles_is_reported(repository):
    (repository.folder / "shop" / "tags.py").write_text("TAGS = {\n", encoding="utf-8")
    found = compare(repository, Baseline(repository.commit(), None), repository.folder, "HEAD")
    assert list(found.broken) == ["shop/tags.py"]
    assert found.worse
    assert not found.ran


def test_a_project_without_tests_has_a_baseline_that_says_so(project):
    folder = project({"a.py": "x = 1\n"})
    before = baseline.take(Repository(folder), folder, 60)
    assert before.runner is None
    assert before.summary() == "No tests were found. Changes are checked by compiling and by ruff only."
    assert before.tested == frozenset()


def test_tests_that_cannot_run_are_none_with_a_reason(project):
    folder = project({"test_a.py": "import nosuchmodule\n"})
    before = baseline.take(Repository(folder), folder, 60)
    assert not before.decides
    assert "No module named 'nosuchmodule'" in before.summary()


def test_tests_over_their_time_are_none(project):
    folder = project({"test_a.py": "import time\ndef test_a(): time.sleep(60)\n"})
    before = baseline.take(Repository(folder), folder, 1)
    assert before.note == "The tests did not end within 1.0 s."


def test_what_tests_write_reaches_no_tree(project):
    folder = project(
        {"test_a.py": "def test_a(): open('left', 'w').close(); open('test_a.py', 'w').close()\n"}
    )
    assert baseline.take(Repository(folder), folder, 60).decides
    assert Repository(folder).changes("HEAD") == []


def test_what_a_build_put_beside_the_sources_is_there(project, tmp_path):
    folder = project({".gitignore": "_version.py\n.venv\n", "shop/__init__.py": "", "a/b.py": ""})
    for name in ("shop/_version.py", "other/_version.py", ".venv/a.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("v = 1\n", encoding="utf-8")
    with copied(Repository(folder), folder) as copy:
        assert copy.name == "project"
        assert sorted(str(path.relative_to(copy)) for path in copy.rglob("*.py")) == [
            "a/b.py",
            "shop/__init__.py",
            "shop/_version.py",
        ]
        (copy / "a").chmod(0o500)
    assert not copy.parent.exists()


def test_submodules_are_there_as_the_commit_names_them(project, tmp_path):
    folder = project(
        {"test_a.py": "from words import words\ndef test_a(): assert words.WORD == 'committed'\n"}
    )
    git(tmp_path, "init", "--quiet", "words")
    (tmp_path / "words" / "words.py").write_text("WORD = 'committed'\n", encoding="utf-8")
    git(tmp_path / "words", "add", "--all")
    git(tmp_path / "words", "commit", "--quiet", "--message=words")
    git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "words"))
    git(folder, "commit", "--quiet", "--message=with a submodule")
    (folder / "words" / "words.py").write_text("WORD = 'not yet'\n", encoding="utf-8")
    git(folder, "worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"))
    found = baseline.take(Repository(tmp_path / "tree"), folder, 60)
    assert found.outcomes.passed == {"test_a.py::test_a"}
    assert (folder / "words" / "words.py").read_text(encoding="utf-8") == "WORD = 'not yet'\n"


def test_how_a_failure_may_name_a_file():
    changed = ["src/shop/tags.py", "src/shop/__init__.py", "shop.py", "lib/x y.py"]
    assert suspects(changed, ["ImportError: cannot import name 'x' from 'shop.tags' (…)"]) == (
        "src/shop/tags.py",
    )
    assert suspects(changed, ["AttributeError: module 'shop' has no attribute 'x'"]) == (
        "shop.py",
        "src/shop/__init__.py",
    )
    assert suspects(changed, ["/tmp/a/lib/x y.py:3: Error"]) == ("lib/x y.py",)
    assert suspects(changed, ["no shop.tagset in workshop.tags, see shop.tags.more"]) == ()


def test_both_read_as_they_were_written(repository):
    before = baseline.take(repository, repository.folder, 60)
    again = Baseline.from_json(json.loads(json.dumps(before.to_json())))
    assert (again.runner, again.tested) == (before.runner, before.tested)
    found = Comparison(
        "c0ffee", ran=True, passed=1, newly_failing={"a": "b"}, suspects=("c",), unsteady=("d",)
    )
    assert Comparison.from_json(json.loads(json.dumps(found.to_json()))) == found
    for reader in (Baseline.from_json, Comparison.from_json):
        with pytest.raises(ArtifactError):
            reader({})
