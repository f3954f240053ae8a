"""The programs as the daemon runs them, on small projects under git."""

import json
import re

import pytest
from baseline import Baseline
from whole_file import write_json

SHOP = {
    "pyproject.toml": "[project]\nname = 'shop'\nrequires-python = '>=3.9'\n",
    "shop/__init__.py": "",
    "shop/writer.py": "from shop.show import WRITERS\n\nWRITERS['x'] = str\n",
    "shop/show.py": "WRITERS = {}\n",
    "shop/main.py": "import json\nimport os\n\nimport shop.writer\nfrom shop.show import WRITERS\n\nTABLE = WRITERS\n",
    "shop/more.py": "import re\n\nNAME = 'more'\n",
    "tests/test_main.py": "from shop import main, more\n\n\ndef test_writers():\n    assert list(main.TABLE) == ['x']\n"
    "\n\ndef test_name():\n    assert more.NAME\n",
}


def verdict(report: str) -> str:
    found = re.search(r"\*\*Verdict:\*\* (\w+)", report)
    assert found, report
    return found[1]


def section(report: str, name: str) -> str:
    return report.split(f"## {name}\n", 1)[1].split("\n## ", 1)[0].strip()


@pytest.fixture
def started(project, daemon):
    """A task of which explore and plan are done, and what plan reported."""

    def start(files):
        made = daemon(project(files))
        reading = made.tree("reading")
        if any(path.startswith("tests/") for path in files):
            assert made.check("baseline", "explore", reading) == 0
        else:
            # As the check would write it, after a second in which it looks for tests.
            untested = Baseline(made.base, None, note="No tests were found.")
            write_json(made.task / "artifacts" / "tests" / "baseline.json", untested.to_json())
        assert "**Status:** COMPLETE" in made.run("explore", "explore", reading)
        return made, made.run("plan", "plan", reading)

    return start


def test_harmful_fix_is_rejected_and_the_rest_kept(started):
    daemon, planned = started(SHOP)
    (name,) = re.findall(
        r"^- \[([a-z0-9-]+)\] .* \(agent: dev\b.*\)$", section(planned, "Subtasks"), re.MULTILINE
    )
    tree = daemon.tree("subtask")
    (tree / "shop" / "more.py").chmod(0o755)

    daemon.run("dev", f"dev:{name}", tree)
    assert "shop.writer" not in (tree / "shop" / "main.py").read_text(encoding="utf-8")
    daemon.commit(tree)
    status = daemon.check("compare", f"test:{name}", tree)
    assert status == 1
    tested = daemon.run("test", f"test:{name}", tree, check=status)
    assert verdict(tested) == "REJECTED"
    assert "tests/test_main.py::test_writers: AssertionError" in tested

    daemon.feedback = section(tested, "Completed Work")
    subtree = daemon.tree("again")
    developed = daemon.run("dev", f"dev:{name}", subtree, attempt=2)
    assert "Mended 3 of 4 findings in 2 files; 1 left." in developed
    assert (subtree / "shop" / "main.py").read_text(encoding="utf-8").startswith("\nimport shop.writer\n")
    daemon.commit(subtree)
    status = daemon.check("compare", f"test:{name}", subtree, attempt=2)
    tested = daemon.run("test", f"test:{name}", subtree, attempt=2, check=status)
    # The daemon asks for no review of what the tests reject: this is its first.
    reviewed = daemon.run("review", f"review:{name}", subtree, attempt=1)
    assert (verdict(tested), verdict(reviewed)) == ("APPROVED", "APPROVED")

    daemon.forward(subtree)
    accepted = daemon.run("review", "accept", daemon.tree("accept"))
    assert section(accepted, "Success Criteria").count("- [x] ") == 3
    for path in re.findall(r"^- (artifacts/\S+)$", section(accepted, "Artifacts Generated"), re.MULTILINE):
        assert (daemon.task / path).is_file()
    assert "done in 2 attempts" in (daemon.task / "artifacts" / "reviews" / "summary.md").read_text(
        encoding="utf-8"
    )


def test_merged_work_of_others_is_no_change_of_a_subtask(started):
    """Its review counted their files and lines as its own, and rejected it for them."""
    daemon, planned = started({"a.py": "import os\n", "b.py": "import os\n"})
    (name,) = re.findall(r"^- \[([a-z0-9-]+)\]", section(planned, "Subtasks"), re.MULTILINE)
    tree = daemon.tree("subtask")
    other = daemon.tree("other")
    (other / "theirs.py").write_text("x = 1\n", encoding="utf-8")
    daemon.commit(other)
    daemon.forward(other)
    daemon.run("dev", f"dev:{name}", tree)
    daemon.commit(tree)
    assert daemon.check("compare", f"test:{name}", tree) == 0
    daemon.run("review", f"review:{name}", tree)
    (found,) = (daemon.task / "artifacts" / "reviews").glob(f"{name}*.json")
    assert [each["path"] for each in json.loads(found.read_text())["changed"]] == ["a.py", "b.py"]


def test_a_tidy_project_ends_with_nothing_to_do(started):
    daemon, planned = started({"a.py": "x = 1\n"})
    assert section(planned, "Subtasks") == "None"
    accepted = daemon.run("review", "accept", daemon.tree("accept"))
    assert "nothing to do" in accepted
    assert verdict(accepted) == "APPROVED"
    assert "changes.diff" not in accepted


def test_files_that_cannot_be_mended_are_said_and_modes_kept(started):
    daemon, planned = started({"a.py": "import os\n", "b.py": "import os\n"})
    (name,) = re.findall(r"^- \[([a-z0-9-]+)\]", section(planned, "Subtasks"), re.MULTILINE)
    tree = daemon.tree("subtask")
    (tree / "a.py").write_bytes(b"import os  # \xe9\n")
    daemon.commit(tree)
    (tree / "b.py").chmod(0o755)
    (tree / "b.py").write_text("what a dead run left", encoding="utf-8")
    developed = daemon.run("dev", f"dev:{name}", tree)
    assert "- a.py: it is not UTF-8" in developed
    assert (tree / "a.py").read_bytes() == b"import os  # \xe9\n"
    assert (tree / "b.py").read_bytes() == b""


def test_nothing_is_done_in_the_users_own_tree(started):
    daemon, planned = started({"a.py": "import os\n"})
    (name,) = re.findall(r"^- \[([a-z0-9-]+)\]", section(planned, "Subtasks"), re.MULTILINE)
    developed = daemon.run("dev", f"dev:{name}", daemon.project)
    assert "**Status:** BLOCKED" in developed
    assert "no work tree made for this task" in section(developed, "Blockers")
    assert (daemon.project / "a.py").read_text(encoding="utf-8") == "import os\n"


def test_what_an_earlier_step_should_have_left_is_missed_aloud(project, daemon):
    made = daemon(project({"a.py": "import os\n"}))
    tree = made.tree("tree")
    assert made.check("compare", "test:x", tree) == 2
    assert "baseline.json is missing" in section(made.run("explore", "explore", tree), "Blockers")
    assert "ended with exit status 2" in section(made.run("explore", "explore", tree, check=2), "Blockers")
    assert "findings.json is missing" in section(made.run("plan", "plan", tree), "Blockers")
    assert verdict(made.run("test", "test:x", tree, check=2)) == "REJECTED"
    assert "has not run check.py" in section(made.run("test", "test:x", tree), "Blockers")


def test_a_line_of_the_settings_that_is_not_understood_blocks(started, daemon):
    made, _ = started({"a.py": "import os\n"})
    with (made.task / "task.md").open("a", encoding="utf-8") as file:
        file.write("\n- colour: red\n")
    report = made.run("plan", "plan", made.tree("tree"))
    assert re.search(r"task\.md:\d+: '- colour: red' is no setting", section(report, "Blockers"))


def test_the_checks_usage_is_said(project, daemon):
    made = daemon(project({"a.py": ""}))
    tree = made.tree("tree")
    assert made.program("check", environment={}, cwd=tree) == 2
    assert made.program("check", "compare", environment={}, cwd=tree) == 2
    assert made.program("explore", environment={}, cwd=tree) == 2


def test_the_demonstration_has_what_it_promises(template):
    """Its whole run takes half a minute; here only that there is something to reject and to set aside."""
    import linter

    root = template / "demo"
    files = sorted(str(path.relative_to(root)) for path in root.rglob("*.py"))
    manner, found = linter.survey(root, files)
    assert not manner.own_rules
    assert 20 <= len(found) <= 50
    unused = {(finding.path, finding.message) for finding in found if finding.code == "F401"}
    assert ("src/pantry/show.py", "`pantry.writer_text` imported but unused") in unused
    assert {finding.path for finding in found if finding.code == "E711"} == {"src/pantry/lists.py"}
    assert json.dumps([finding.code for finding in found if finding.fix is None])
