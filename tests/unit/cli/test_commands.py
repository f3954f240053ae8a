"""Whether a command would start where its agent works: looked for, and never run."""

import pytest

from orchestrator.cli.commands import Commit, Folder, judged
from orchestrator.cli.findings import Severity
from orchestrator.workspaces.repository import Repository


@pytest.fixture
def put(shop):
    """Put a file into the project, and commit it unless said otherwise."""

    def put(name, text="#!/bin/sh\n", *, runs=True, committed=True):
        path = shop.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if runs else 0o644)
        if committed:
            shop.git("add", "--force", name)
            shop.git("commit", "-q", "-m", name)

    return put


@pytest.fixture
def look(shop):
    """Return how grave what is found is, and its text."""

    def look(*argv, folder=False, search="/usr/bin:/bin"):
        repository = Repository.of(shop.project, 30, {"PATH": "/usr/bin:/bin"})
        ground = Folder(shop.project) if folder else Commit(repository, shop.project, shop.at("HEAD"))
        return [(each.severity, each.text, each.fix) for each in judged("dev.command", argv, ground, search)]

    return look


@pytest.mark.parametrize(
    "argv", [("./a.sh",), ("a/../a.sh", "x"), ("sh", "a.sh"), ("sh", "-c", "x"), ("env", "x")]
)
def test_what_would_start_is_not_spoken_of(put, look, argv):
    put("a.sh")
    assert look(*argv) == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ({"committed": False}, "is not committed"),
        ({"runs": False}, "is not executable in "),
        ({"text": "#!/bin/sh\r\n"}, "its first line ends with CR LF"),
        ({"text": "#!/no/such/program\n"}, "its first line names /no/such/program"),
        ({"text": "#!/usr/bin/env -S nosuch -x\n"}, "its first line names nosuch"),
    ],
)
def test_a_script_that_would_not_start_is_missing(put, look, kind, text):
    put("a.sh", **kind)
    ((severity, reported, _),) = look("./a.sh")
    assert severity is Severity.MISSING
    assert text in reported


def test_what_lies_nowhere_is_missing(look):
    ((severity, reported, mend),) = look("./a.sh")
    assert (severity, "is missing in" in reported, mend) == (Severity.MISSING, True, "")


def test_an_ignored_file_is_added_by_force(shop, put, look):
    (shop.project / ".gitignore").write_text("*.sh\n")
    put("a.sh", committed=False)
    ((_, _, mend),) = look("./a.sh")
    assert "add --force -- a.sh" in mend


def test_a_folder_is_no_program(put, look):
    put("a/b.sh")
    assert [reported for _, reported, _ in look("./a")] == ["is not a file"]


def test_in_the_users_own_tree_what_lies_there_counts(put, look):
    put("a.sh", committed=False)
    assert look("./a.sh", folder=True) == []
    put("a.sh", runs=False, committed=False)
    ((_, reported, mend),) = look("./a.sh", folder=True)
    assert (reported, mend.startswith("chmod +x ")) == ("is not executable", True)


def test_a_program_is_looked_for_on_the_agents_path(look, tmp_path):
    ((severity, reported, _),) = look("nosuch")
    assert (severity, "on the PATH that an agent gets" in reported) == (Severity.MISSING, True)
    (tmp_path / "nosuch").write_text("#!/bin/sh\n")
    (tmp_path / "nosuch").chmod(0o755)
    assert look("nosuch", search=str(tmp_path)) == []


def test_a_tilde_is_read_by_nobody(look):
    ((_, reported, mend),) = look("~/bin/agent", "--fast")
    assert "no shell expands" in reported
    assert mend.endswith("/bin/agent --fast")


def test_a_path_out_of_the_tree_is_missing(look):
    assert ["leads out of" in reported for _, reported, _ in look("../a.sh")] == [True]


def test_an_absolute_path_is_looked_at_as_it_is(look, tmp_path):
    (tmp_path / "plain").write_text("")
    (tmp_path / "plain").chmod(0o644)
    for absolute in ("/no/such", str(tmp_path), str(tmp_path / "plain")):
        assert [severity for severity, _, _ in look(absolute)] == [Severity.MISSING], absolute


@pytest.mark.parametrize("program", ["python3", "/usr/bin/python3.11", "bash", "node"])
def test_a_script_that_is_not_there_is_only_a_warning(put, look, program, tmp_path):
    """What an interpreter makes of its words is its own affair."""
    (tmp_path / program.rpartition("/")[2]).write_text("")
    (tmp_path / program.rpartition("/")[2]).chmod(0o755)
    found = look(program, "my_agent.py", search=str(tmp_path))
    assert (Severity.WARN, True) in [
        (severity, "my_agent.py is missing" in reported) for severity, reported, _ in found
    ]
    put("my_agent.py")
    assert not [
        each for each in look(program, "my_agent.py", search=str(tmp_path)) if each[0] is Severity.WARN
    ]


def test_a_project_within_a_repository_is_looked_at_there(shop, put, look):
    put("sub/a.sh")
    repository = Repository.of(shop.project / "sub", 30, {"PATH": "/usr/bin:/bin"})
    ground = Commit(repository, shop.project / "sub", shop.at("HEAD"))
    assert list(judged("dev.command", ("./a.sh",), ground, "/bin")) == []
    assert len(list(judged("dev.command", ("./sub/a.sh",), ground, "/bin"))) == 1
