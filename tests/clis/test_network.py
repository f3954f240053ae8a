"""The network of the bench has loopback and nothing else, and the model server listens in it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.clis.answers import say
from tests.clis.model_server import ModelServer
from tests.clis.network import Network, a_network
from tests.clis.playing import always

ASK = """
import json, socket, sys, urllib.request
print(json.dumps([name for _, name in socket.if_nameindex()]))
print(urllib.request.urlopen(sys.argv[1] + "/v1/models", timeout=10).status)
"""


def isolated() -> None:
    with a_network() as network:
        if network.why_open:
            pytest.skip(network.why_open)


def test_program_reaches_only_loopback_and_the_model_server() -> None:
    """A program in it sees loopback and the model server alone."""
    isolated()
    with a_network() as network, ModelServer(always(say("Yes.")), listener=network.listener()) as server:
        command = network.inside([sys.executable, "-c", ASK, server.url])
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
        interfaces, status = done.stdout.split("\n")[:2]
        assert json.loads(interfaces) == ["lo"]
        assert status == "200"
        assert [each.path for each in server.requests] == ["/v1/models"]


def test_the_server_cannot_be_reached_from_outside_of_it() -> None:
    isolated()
    with a_network() as network, ModelServer(always(say("Yes.")), listener=network.listener()) as server:
        command = [sys.executable, "-c", ASK, server.url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        assert "refused" in done.stderr


def test_without_privileges_programs_run_in_the_machines_network() -> None:
    network = Network(why_open="not permitted")
    assert network.inside(["true"]) == ["true"]
    with ModelServer(always(say("Yes.")), listener=network.listener()) as server:
        done = subprocess.run(
            [sys.executable, "-c", ASK, server.url], capture_output=True, timeout=30, check=True
        )
        assert done.stdout.endswith(b"200\n")
