import preflight
import pytest


@pytest.fixture
def asked(capsys):
    def ask(folder):
        status = preflight.main([str(folder)])
        out, err = capsys.readouterr()
        return status, out, err

    return ask


def test_a_project_with_tests_has_no_notes(project, asked):
    assert asked(project({"a.py": "", "tests/test_a.py": ""})) == (0, "", "")


def test_what_may_surprise_is_noted(project, asked):
    folder = project({"sub/a.py": "x = 1\n"})
    (folder / "sub" / "a.py").write_text("x = 2\n", encoding="utf-8")
    status, out, _ = asked(folder / "sub")
    assert status == 0
    assert [line.split(":")[0].split(" of ")[0] for line in out.splitlines()] == [
        f"{folder / 'sub'} is a part",
        "uncommitted changes are not looked at",
        "no tests found",
    ]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda project, folder: folder / "nowhere", "is not a folder: say --project PATH"),
        (lambda project, folder: folder, "is not under git: run `git init"),
        (lambda project, folder: project({"a.txt": ""}), "has no Python file in its last commit"),
    ],
)
def test_what_it_cannot_work_on_is_said_in_one_sentence(project, tmp_path, asked, make, says):
    status, out, err = asked(make(project, tmp_path))
    assert (status, out) == (1, "")
    assert says in err
    assert err.count("\n") == 1


def test_git_without_a_commit_is_said(tmp_path, asked):
    from repository import Repository

    Repository(tmp_path).git("init", "--quiet")
    status, _, err = asked(tmp_path)
    assert status == 1
    assert "has no commit yet: run `git add" in err


def test_no_ruff_is_said(project, asked, monkeypatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    status, _, err = asked(project({"a.py": ""}))
    assert status == 1
    assert "ruff cannot be run" in err
