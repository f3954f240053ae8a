import pytest


def test_a_unique_name_is_enough_outside_any_project(house, task):
    house.task()
    assert task("status", "tidy", "--json").json["id"] == "tidy-0a1b2c3d"


def test_the_id_is_exact(house, task):
    house.task("tidy-00000001")
    house.task("tidy-00000002", project="/other")
    assert task("status", "tidy-00000002", "--json").json["project"] == "/other"


def test_a_name_of_several_projects_needs_more(house, task):
    house.task("tidy-00000001")
    house.task("tidy-00000002", project="/other")
    said = task("status", "tidy")
    assert said.code == 2
    assert f"  tidy-00000001  {house.project}\n  tidy-00000002  /other\n" in said.err


def test_the_project_settles_it(house, task):
    house.task("tidy-00000001")
    house.task("tidy-00000002", project="/other")
    assert task("status", "tidy", "--project", str(house.project), "--json").json["id"] == "tidy-00000001"


def test_the_current_folder_or_one_above_it_settles_it(house, task, monkeypatch):
    house.task("tidy-00000001")
    house.task("tidy-00000002", project="/other")
    (house.project / "tasks" / "tidy" / "handoffs").mkdir(parents=True)
    monkeypatch.chdir(house.project / "tasks" / "tidy" / "handoffs")
    assert task("status", "tidy", "--json").json["id"] == "tidy-00000001"


def test_unstarted_folder_here_is_not_another_task(house, task, monkeypatch):
    house.task("tidy-00000002", project="/other")
    (house.project / "tasks" / "tidy").mkdir(parents=True)
    monkeypatch.chdir(house.project)
    said = task("status", "tidy")
    assert said.code == 2
    assert "was never started; to start it: `task start tidy" in said.err
    assert "tidy-00000002  /other" in said.err


def test_a_project_without_that_task_says_so(house, task):
    house.task()
    said = task("status", "tidy", "--project", str(house.root))
    assert said.code == 2
    assert f"{house.root} has no task tidy: `task list` shows all tasks" in said.err
    assert said.err.endswith(f"\n  tidy-0a1b2c3d  {house.project}\n")


def test_damaged_task_is_meant_only_if_no_other_is(house, task, monkeypatch):
    (house.home("tidy-00000001") / "state.json").write_text("{")
    (house.project / "tasks" / "tidy").mkdir(parents=True)
    monkeypatch.chdir(house.project)
    assert "is damaged" in task("status", "tidy").err
    house.task("tidy-00000002")
    assert task("status", "tidy").code == 0


def test_a_name_is_never_half_of_another(house, task):
    house.task("tidy-10-00000001")
    assert task("status", "tidy").code == 2
    assert task("status", "tidy-1").code == 2


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/etc/x",
        "",
        ".",
        "..",
        "-R",
        "a\nb",
        "a\0b",
        "A",
        "x" * 256,
        "a:b",
        "a.b",
        "=a",
        "%1",
        "a@b",
        "\u0430dmin",
    ],
)
@pytest.mark.parametrize("verb", ["status", "stop", "checkin", "logs", "why", "attach"])
def test_bad_names_are_refused_in_one_sentence(house, task, verb, name):
    said = task(verb, "--", name)
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("task: ")
    assert said.err.count("\n") == 1


def test_an_unknown_name_says_where_to_look(house, task):
    said = task("status", "nobody")
    assert (said.code, said.err) == (2, "task: there is no task nobody: `task list` shows all tasks\n")


def test_a_current_folder_that_is_gone_does_no_harm(house, task, monkeypatch):
    house.task()
    gone = house.root / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert task("status", "tidy").code == 0


# Without a name -----------------------------------------------------------------------------------


def test_without_a_name_the_only_task_is_taken_and_said(house, task):
    house.task()
    said = task("status", "--json")
    assert said.json["id"] == "tidy-0a1b2c3d"
    assert said.err == f"task: no name given; using tidy of {house.project}\n"


def test_the_only_task_of_this_project_comes_first(house, task, monkeypatch):
    house.task()
    house.task("other-00000002", project="/other")
    monkeypatch.chdir(house.project)
    assert task("status", "--json").json["task"] == "tidy"
    monkeypatch.chdir(house.root / "elsewhere")
    said = task("status")
    assert said.code == 2
    assert f"  tidy-0a1b2c3d  running  {house.project}\n" in said.err


def test_a_given_project_settles_which_task_it_is(house, task):
    house.task()
    house.task("other-00000002", project="/other")
    assert task("status", "--project", str(house.project), "--json").json["task"] == "tidy"
    said = task("status", "--project", str(house.root))
    assert (said.code, f"{house.root} has no task: " in said.err) == (2, True)


def test_without_any_task_it_says_how_to_make_one(house, task):
    said = task("status")
    assert (said.code, "`task start NAME`" in said.err) == (2, True)


@pytest.mark.parametrize("words", [["dev"], ["tidy", "dev"]], ids=str)
def test_a_left_out_name_makes_the_first_word_the_next(house, task, words):
    home = house.task()
    house.ran(home, {"id": "dev-run"})
    (home / "runs" / "dev-run").mkdir(parents=True)
    (home / "runs" / "dev-run" / "pane.log").write_text("at work\n")
    assert task("logs", *words).out == "at work\n"


def test_a_task_called_like_an_agent_is_the_task(house, task):
    house.task("dev-00000001")
    (house.state / "tasks" / "dev-00000001" / "pm.log").write_text("the log of the PM\n")
    assert task("logs", "dev").out == "the log of the PM\n"


def test_unknown_first_word_is_no_task_among_several(house, task):
    house.task()
    house.task("other-00000002", project="/other")
    said = task("logs", "tydi")
    assert (said.code, said.err.startswith("task: there is no task tydi")) == (2, True)


@pytest.mark.parametrize(
    "words",
    [["order", "dev", "Look", "again"], ["order", "tidy", "dev", "Look", "again"]],
    ids=" ".join,
)
def test_an_order_goes_to_the_only_task(house, task, daemon, words):
    house.task()
    assert task(*words).code == 0
    assert daemon.heard[-1]["arguments"] == {"agent": "dev", "instructions": "Look again"}


@pytest.mark.parametrize("words", [["dev"], ["tidy", "dev"]], ids=str)
def test_a_spawn_goes_to_the_only_task(house, task, daemon, words):
    house.task()
    assert task("spawn", *words, "--instructions", "x").code == 0
    assert daemon.heard[-1]["arguments"] == {"agent": "dev", "instructions": "x"}
