"""What a real box tells of itself."""

import os
import shutil
import time

from orchestrator.formats.place import Address
from orchestrator.hosts.ssh.box import findings, question, read_box
from orchestrator.hosts.ssh.link import Link
from tests.remote.boxes import Boxes


def test_a_box_is_asked_in_one_round_trip_whatever_its_folder_is_called(boxes: Boxes) -> None:
    box = boxes.add("alpha")
    cwd = box.home / "-n $(touch x) 'q' \n two"
    cwd.mkdir()
    link = Link(Address("alpha"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    programs = ["sh", "sed", "no-such-program"]
    asked = time.time()
    ended = link.run(question(str(cwd), programs))
    found = read_box(ended.out.decode(), programs, asked, time.time())
    link.close()
    assert (found.home, found.cwd, found.offset) == (str(box.home), "writable", 0)
    assert abs(found.disk - shutil.disk_usage(box.home).free) < 2**30
    assert found.tmux.startswith("tmux ")
    assert found.rsync.startswith("rsync ")
    assert found.git.startswith("git version ")
    assert found.programs["no-such-program"] is None
    assert "sed" in str(found.programs["sed"])
    assert [each.what for each in findings(found, "there") if each.stops] == [
        "no-such-program is not on the PATH of a command over ssh"
    ]
    assert list(box.home.iterdir()) == [cwd]
