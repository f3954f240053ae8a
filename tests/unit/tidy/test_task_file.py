import pytest
import task_file
from errors import TidyError
from task_file import Settings


def tidy(*lines: str) -> Settings:
    return task_file.parse("# Task: x\n\n## Goal\n- only: nothing\n\n## Tidy\n" + "\n".join(lines))


def test_the_template_itself_sets_nothing_and_has_three_criteria(template):
    settings = task_file.parse((template / "task.md").read_text(encoding="utf-8"))
    assert len(settings.criteria) == 3
    assert settings == Settings(criteria=settings.criteria)


def test_settings_are_read():
    settings = tidy(
        "- only: src/, `tests`", "- rules: F, UP", "* leave: F401", "- subtasks: 3", "- test-seconds: 60"
    )
    assert settings == Settings(("src", "tests"), ("F", "UP"), ("F401",), 3, 60)


@pytest.mark.parametrize(
    "line",
    [
        "- only: ../x",
        "- only: /etc",
        "- rules: f401",
        "- rules: F*",
        "- subtasks: 0",
        "- subtasks: many",
        "- subtasks: 1, 2",
        "- test-seconds: -1",
        "- speed: 3",
        "- subtasks",
    ],
)
def test_what_is_not_understood_is_said_with_its_line(line):
    with pytest.raises(TidyError, match=r"task\.md:7: "):
        tidy(line)


def test_what_is_wanted():
    settings = Settings(only=("src", "a.py"), rules=("F", "UP0"), leave=("F401",))
    assert [path for path in ("src/x.py", "a.py", "srcx/y.py", "b.py") if settings.covers(path)] == [
        "src/x.py",
        "a.py",
    ]
    assert [code for code in ("F401", "F541", "UP032", "I001") if settings.wants(code)] == ["F541", "UP032"]
    assert Settings().wants("I001")
    assert Settings().covers("any.py")


def test_a_criterion_may_go_on_in_the_next_line():
    assert task_file.parse("## Success Criteria\n1. One\n   and more\n\n+ Two\nno\n").criteria == (
        "One and more",
        "Two",
    )


def test_criteria_lose_their_boxes():
    assert task_file.parse(
        "## Success Criteria\n- [ ] One\n- [x] Two \n\n```\n- no\n```\n## More\n- Three"
    ).criteria == (
        "One",
        "Two",
    )


def test_the_environment_may_bound_the_tests(tmp_path, monkeypatch):
    (tmp_path / "task.md").write_text("# Task: x\n", encoding="utf-8")
    monkeypatch.setenv("TIDY_TEST_SECONDS", "7")
    assert task_file.read(tmp_path).test_seconds == 7
    monkeypatch.setenv("TIDY_TEST_SECONDS", "soon")
    with pytest.raises(TidyError, match="number of seconds"):
        task_file.read(tmp_path)


def test_no_task_file_is_said(tmp_path):
    with pytest.raises(TidyError, match="cannot be read"):
        task_file.read(tmp_path)
