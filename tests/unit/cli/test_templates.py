import pytest

TASK = "# Task: Mine\n\n## Goal\n{goal}\n\n## Success Criteria\n- Done\n"


@pytest.fixture
def put(house):
    """Put a template into a folder below the user's home."""

    def put(folder, name, goal="Do it."):
        path = house.root / folder / name / "task.md"
        path.parent.mkdir(parents=True)
        path.write_text(TASK.format(goal=goal))

    return put


def test_a_new_user_sees_what_ships_and_where_their_own_go(house, task):
    said = task("templates")
    assert said.code == 0
    assert "\ntidy  " in said.out
    assert (
        f"your own: a folder with a task.md in {house.root}/config/agent-orchestrator/templates" in said.out
    )


def test_own_templates_come_before_shipped_ones(house, task, put):
    put("config/agent-orchestrator/templates", "mine")
    put("config/agent-orchestrator/templates", "tidy", "Tidy my way.")
    put("more", "mine", "Not this one.")
    put("more", "third")
    settings = house.root / "config" / "agent-orchestrator" / "config.toml"
    settings.write_text('[templates]\nfolders = ["~/more"]\n')
    found = {each["name"]: each["description"] for each in task("templates", "--json").json["templates"]}
    assert found == {"mine": "Not this one.", "third": "Do it.", "tidy": "Tidy my way."}


def test_one_that_cannot_be_used_says_why(house, task, put):
    put("config/agent-orchestrator/templates", "My Own")
    put("config/agent-orchestrator/templates", "empty", "")
    found = {each["name"]: each["description"] for each in task("templates", "--json").json["templates"]}
    assert found["My Own"].startswith("(rename its folder: 'My Own' is no template name")
    assert found["empty"].startswith("(cannot be read: ")
