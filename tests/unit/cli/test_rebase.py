"""`task rebase`: what the command itself decides, before it asks the daemon."""


def test_what_stands_there_already_is_said(shop, task):
    shop.work()
    said = task("rebase", "tidy")
    assert (said.code, f"tidy is based on {shop.base[:10]} already" in said.out) == (0, True), said


def test_a_merged_task_has_nothing_to_go_on_with(shop, task, daemon):
    """Its base moves, its branch stays where it is."""
    tip = shop.work()
    assert task("merge", "tidy").code == 0
    said = task("rebase", "tidy")
    assert (said.code, "to go on" in said.out) == (0, False), said
    asked = daemon.heard[-1]
    assert (asked["verb"], asked["arguments"]["base"], asked["arguments"]["new"]) == ("rebase", tip, tip), (
        asked
    )
    assert shop.at("task/tidy") == tip


def test_commits_at_odds_leave_all_as_it_was(shop, task, daemon):
    """The files at odds are named. To archive the task is no way out: that takes its task.md away."""
    shop.work("notes.txt", "by the task\n")
    shop.commit("notes.txt", "by the user, later\n")
    before = shop.refs()
    said = task("rebase", "tidy")
    assert (said.code, "  notes.txt\n" in said.err, "task archive" in said.err) == (1, True, False), said
    assert (shop.refs(), daemon.heard) == (before, [])
