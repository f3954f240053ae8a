"""The boxes themselves: what other tests of SSH stand on."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from tests.polling import wait_until
from tests.remote.boxes import Box, Boxes, may_isolate


def answers(box: Box) -> bool:
    try:
        with socket.create_connection((box.address, box.port), timeout=1) as made:
            made.settimeout(1)
            return made.recv(4) == b"SSH-"
    except OSError:
        return False


def test_a_box_is_reached_by_its_alias_and_has_a_home_of_its_own(boxes: Boxes) -> None:
    box = boxes.add("alpha")
    done = boxes.ssh("--", "alpha", "echo $HOME; tmux new-session -d -s there; echo $TMUX_TMPDIR")
    assert done.stdout.split() == [str(box.home), str(box.folder / "tmux")], done.stderr
    assert (box.folder / "tmux" / f"tmux-{os.getuid()}" / "default").is_socket()


@pytest.mark.parametrize("kind", ["namespace", "port"])
def test_a_cut_link_is_silent_and_comes_back(boxes: Boxes, kind: str) -> None:
    if kind == "namespace" and not may_isolate():
        pytest.skip("network namespaces are not permitted here")
    box = boxes.add("alpha", isolated=kind == "namespace")
    assert wait_until(lambda: answers(box))
    with box.cut():
        assert not answers(box)
    assert wait_until(lambda: answers(box))


def test_two_boxes_are_cut_apart_from_each_other(boxes: Boxes) -> None:
    first, second = boxes.add("alpha"), boxes.add("beta")
    assert (first.address, first.port) != (second.address, second.port)
    with first.cut():
        assert wait_until(lambda: answers(second))
        assert not answers(first)


def test_a_box_may_lie_behind_another(boxes: Boxes) -> None:
    # Between two namespaces the machine would have to route, which is its own affair.
    first = boxes.add("alpha", isolated=False)
    boxes.add("beta", extra="ProxyJump alpha", isolated=False)
    assert boxes.ssh("--", "beta", "echo there").stdout == "there\n"
    assert first.logins() == 1


def test_an_unknown_box_and_another_key_are_refused(boxes: Boxes) -> None:
    box = boxes.add("alpha")
    boxes.know(box, "other")
    assert "IDENTIFICATION HAS CHANGED" in boxes.ssh("--", "alpha", "true").stderr
    boxes.forget()
    assert "Host key verification failed" in boxes.ssh("--", "alpha", "true").stderr
    assert box.logins() == 0


def test_a_box_ends_with_all_that_it_started(boxes: Boxes) -> None:
    box = boxes.add("alpha")
    command = ["ssh", "-F", str(boxes.config), "--", "alpha", "exec sleep 600"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as user:
        wait_until(lambda: len(box.processes()) > 2, within=30)
        started = box.processes()
        box.stop()
        user.wait(timeout=30)
    assert not answers(box)
    wait_until(lambda: not any(Path(f"/proc/{each.pid}/exe").exists() for each in started))
    box.start()
    assert wait_until(lambda: answers(box))
