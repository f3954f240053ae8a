import pytest

from orchestrator.hosts.process_limit import most_processes


@pytest.fixture
def system(tmp_path):
    """Return a way to show process 7 with these lines of its control groups and these bounds."""

    def show(lines, bounds):
        (tmp_path / "proc" / "7").mkdir(parents=True)
        (tmp_path / "proc" / "7" / "cgroup").write_text(lines)
        for group, most in bounds.items():
            folder = tmp_path / "cgroup" / group
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "pids.max").write_text(f"{most}\n")
        return most_processes(7, proc=tmp_path / "proc", mount=tmp_path / "cgroup")

    return show


def test_least_of_a_group_and_those_above_it_counts(system):
    assert (
        system("0::/user.slice/a/b\n", {"user.slice": 500, "user.slice/a": 30, "user.slice/a/b": "max"}) == 30
    )


def test_first_version_has_a_tree_for_this(system):
    bounds = {"pids/a": 40, "cpu/a": 3, "pids/b": 2}
    assert system("9:cpu:/a\n8:pids:/a\n0::/\n", bounds) == 40


def test_group_without_a_bound_bounds_nothing(system):
    assert system("0::/a\n", {"a": "max"}) is None


def test_no_process_limit_without_control_groups(tmp_path):
    assert most_processes(7, proc=tmp_path, mount=tmp_path) is None
