"""A folder is listed while others remove what lies in it."""

import os

from orchestrator.hosts.disk import DiskFiles


def test_what_goes_while_it_is_listed_hides_nothing_else(tmp_path, monkeypatch):
    for name in ("a", "b", "c"):
        (tmp_path / name).touch()
    scandir = os.scandir

    def removing(folder):
        """List a folder, the first name of which is gone before it is looked at."""
        names = scandir(folder)
        first = next(names)
        (tmp_path / first.name).unlink()
        gone.append(first.name)
        return Listing(names, first)

    gone: list[str] = []
    monkeypatch.setattr(os, "scandir", removing)
    found = {entry.name for entry in DiskFiles().entries(tmp_path)}
    assert found == {"a", "b", "c"} - set(gone)


class Listing:
    def __init__(self, names, first):
        self.names, self.first = names, first

    def __enter__(self):
        return iter([self.first, *self.names])

    def __exit__(self, *_):
        self.names.close()
