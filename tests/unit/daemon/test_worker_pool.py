from __future__ import annotations

import errno
import logging
import threading
from functools import partial

import pytest

from orchestrator.daemon.core.worker_pool import InlineExecutor, WorkerPool, WorkerPoolsByBox


def _wait(gate):
    gate.wait(5)


def _fail():
    raise ZeroDivisionError


def test_work_is_ordered_by_key_and_parallel_between_keys():
    pool, done = WorkerPool(2), list[int]()
    gate = threading.Event()
    pool.do("a", partial(_wait, gate))
    for n in range(50):
        pool.do("a", partial(done.append, n))
    other = threading.Event()
    pool.do("b", other.set)
    assert other.wait(5)
    assert done == []
    gate.set()
    last = threading.Event()
    pool.do("a", last.set)
    assert last.wait(5)
    assert done == list(range(50))
    pool.close()


def test_work_that_raises_does_not_stop_what_comes_after_it(caplog):
    pool, after = WorkerPool(1), threading.Event()
    with caplog.at_level(logging.ERROR):
        pool.do("a", _fail)
        pool.do("a", after.set)
        assert after.wait(5)
        pool.close()
    assert "work of a failed" in caplog.text


@pytest.fixture
def threadless(monkeypatch):
    """Let no thread be started until it is called: a user whose processes and threads are used up."""
    start, scarce = threading.Thread.start, [True]

    def refused(thread):
        if scarce:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refused)
    return scarce.clear


def test_pool_without_any_thread_is_the_system_s_error(threadless):
    with pytest.raises(OSError, match="Resource temporarily") as caught:
        WorkerPool(1)
    assert caught.value.errno == errno.EAGAIN
    boxes = WorkerPoolsByBox(1)
    with pytest.raises(OSError, match="Resource temporarily"):
        boxes.of("alpha")
    threadless()
    done = threading.Event()
    boxes.of("alpha").do("a", done.set)
    assert done.wait(5)
    boxes.close()


def test_work_given_while_no_thread_can_be_started_is_done(request):
    """By the pool's first thread: later work of the same key only joins its queue, and would start none."""
    pool, gate, done = WorkerPool(3), threading.Event(), threading.Event()
    pool.do("a", partial(_wait, gate))
    request.getfixturevalue("threadless")
    pool.do("b", done.set)
    assert not done.is_set()
    gate.set()
    assert done.wait(5)
    pool.close()


def test_box_whose_workers_are_all_stuck_delays_nobody_else():
    """Neither what is done on this machine, nor another box, nor what asks both; and each has its bound."""
    here, far = WorkerPool(1), WorkerPoolsByBox(2)
    gate, begun, late = threading.Event(), threading.Semaphore(0), threading.Event()

    def hang():
        begun.release()
        gate.wait(20)

    for number in range(2):
        far.of("alpha").do(f"t-{number}/dev", hang)
    assert begun.acquire(timeout=5)
    assert begun.acquire(timeout=5)
    far.of("alpha").do("t-3/dev", late.set)
    for executor in (here, far.of("beta"), far.of("beta", "alpha")):
        done = threading.Event()
        executor.do("t-3/dev", done.set)
        assert done.wait(5)
    assert not late.is_set()
    assert not far.idle
    assert far.of("alpha", "beta") is far.of("beta", "alpha", "beta")
    gate.set()
    assert late.wait(5)
    here.close()
    far.close()
    assert far.idle


def test_inline_executor_runs_at_once():
    done = []
    InlineExecutor().do("a", lambda: done.append(1))
    assert done == [1]
