"""`task undo`: what the command itself decides, before it asks the daemon."""

import json


def did(shop, *steps):
    """Let the journal tell that the PM carried out file operations for each of these steps, one after the other."""
    folder = shop.home / "journal"
    folder.mkdir()
    changes = [
        change
        for step in steps
        for change in (
            {
                "kind": "run_opened",
                "run": {"id": f"r-{step}", "step": step, "agent": "dev", "instance": "dev-1"},
            },
            {"kind": "operations_recorded", "record": {"run": f"r-{step}", "done": True}},
        )
    ]
    lines = [{"n": n, "fact": {"kind": "at"}, "changes": [each]} for n, each in enumerate(changes, 1)]
    (folder / "000000000001.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))


def test_files_that_changed_since_are_left_alone(shop, task, daemon):
    """Another step of the task has changed one of the files: both stay as they are, and it is named."""
    first = shop.work("greet.py", "NAME = 'one'\n")
    second = shop.work("greet.py", "NAME = 'two'\n")
    step = shop.house.step
    shop.state_json(
        steps=[
            step("dev:one", agent="dev", subtask="one", commit=first),
            step("dev:two", agent="dev", subtask="two", commit=second),
        ]
    )
    did(shop, "dev:one", "dev:two")
    before = shop.refs()
    said = task("undo", "tidy", "dev:one")
    assert (said.code, "others changed\n  greet.py\nnothing was changed" in said.err) == (1, True), said
    assert (shop.refs(), daemon.heard) == (before, [])
    said = task("undo", "tidy", "dev:two", "--dry-run")
    assert (said.code, "would undo the file operations of dev:two: 1 file" in said.out) == (0, True), said


def test_a_commit_that_is_merged_is_not_to_be_merged(shop, task):
    """Where the PM carried out no file operations, git undoes a step: after a merge of the task, if there was none."""
    commit = shop.work()
    shop.state_json(steps=[shop.house.step("dev:one", agent="dev", subtask="one", commit=commit)])
    revert = f"git -C {shop.project} revert {commit[:10]}"
    assert f", merge the task, then: {revert}" in task("undo", "tidy", "dev:one").err
    assert task("merge", "tidy").code == 0
    assert f"to undo its commit: {revert}" in task("undo", "tidy", "dev:one").err
