"""The model server speaks each API as its vendor does, and remembers what it was asked byte for byte."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.clis.answers import Fault, Hang, Reply, Text, Then, ToolCall, Trouble, call, say
from tests.clis.model_request import Json
from tests.clis.model_server import ModelServer, Script
from tests.clis.playing import ScriptIsOver, always, in_turn, played
from tests.polling import wait_until

ORDER = "Read `this`:\n!ls $HOME\n/clear\n@file\n#note\n-x ünïcödé 🦉 ;"
TOOL = {"type": "object", "properties": {"command": {"type": "string"}}}

ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropic": (
        "/v1/messages?beta=true",
        {
            "model": "m",
            "stream": True,
            "tools": [{"name": "run", "input_schema": TOOL}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": ORDER}]}],
        },
    ),
    "responses": (
        "/v1/responses",
        {
            "model": "m",
            "stream": True,
            "tools": [{"type": "function", "name": "run", "parameters": TOOL}],
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ORDER}]}
            ],
        },
    ),
    "chat": (
        "/v1/chat/completions",
        {
            "model": "m",
            "stream": True,
            "tools": [{"type": "function", "function": {"name": "run", "parameters": TOOL}}],
            "messages": [{"role": "system", "content": "Be good."}, {"role": "user", "content": ORDER}],
        },
    ),
    "gemini": (
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        {
            "tools": [{"functionDeclarations": [{"name": "run", "parameters": TOOL}]}],
            "contents": [{"role": "user", "parts": [{"text": ORDER}]}],
        },
    ),
}
DIALECTS = tuple(ASKED)


@contextmanager
def connected(server: ModelServer) -> Iterator[http.client.HTTPConnection]:
    at = urlsplit(server.url)
    line = http.client.HTTPConnection(str(at.hostname), at.port, timeout=10)
    try:
        yield line
    finally:
        line.close()


def post(
    server: ModelServer, path: str, body: dict[str, Any], headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    with connected(server) as line:
        line.request(
            "POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"} | (headers or {})
        )
        came = line.getresponse()
        return came.status, {name.lower(): value for name, value in came.getheaders()}, came.read()


def asked(server: ModelServer, dialect: str, *, more: Any = None) -> bytes:
    path, body = ASKED[dialect]
    status, _, data = post(server, path, body | (more or {}))
    assert status == 200
    return data


def events(data: bytes) -> list[dict[str, Any]]:
    """The data of server-sent events."""
    lines = [line.removeprefix("data: ") for line in data.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def said(dialect: str, data: bytes) -> str:
    """The text of a streamed answer, put together as that API's client would."""
    reported = events(data)
    match dialect:
        case "anthropic":
            return "".join(
                each["delta"].get("text", "") for each in reported if each["type"] == "content_block_delta"
            )
        case "responses":
            return "".join(each["delta"] for each in reported if each["type"] == "response.output_text.delta")
        case "chat":
            return "".join(
                choice["delta"].get("content", "") for each in reported for choice in each["choices"]
            )
        case _:
            parts = [part for each in reported for part in each["candidates"][0]["content"]["parts"]]
            return "".join(part["text"] for part in parts)


def wanted(dialect: str, data: bytes) -> tuple[str, Any]:
    """The one tool that a streamed answer wants used."""
    reported = events(data)
    match dialect:
        case "anthropic":
            (name,) = [
                each["content_block"]["name"] for each in reported if each["type"] == "content_block_start"
            ]
            deltas = [
                each["delta"]["partial_json"] for each in reported if each["type"] == "content_block_delta"
            ]
            return name, json.loads("".join(deltas))
        case "responses":
            (item,) = [each["item"] for each in reported if each["type"] == "response.output_item.done"]
            return item["name"], json.loads(item["arguments"])
        case "chat":
            deltas = [
                choice["delta"]["tool_calls"][0]["function"]
                for each in reported
                for choice in each["choices"]
                if "tool_calls" in choice["delta"]
            ]
            return deltas[0]["name"], json.loads("".join(each["arguments"] for each in deltas))
        case _:
            (wish,) = [
                part["functionCall"]
                for each in reported
                for part in each["candidates"][0]["content"]["parts"]
                if "functionCall" in part
            ]
            return wish["name"], wish["args"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_order_is_remembered_byte_for_byte(dialect: str) -> None:
    with ModelServer(always(say("Yes."))) as server:
        asked(server, dialect)
        (came,) = server.turns

    path, body = ASKED[dialect]
    assert came.raw == json.dumps(body).encode()
    assert came.path == path
    assert (came.dialect, came.prompt) == (dialect, ORDER)
    assert came.conversation.streams
    assert came.offers_tools


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", ["Short.", "ünïcödé 🦉 " * 40 + "\n```\n$x\n```", ""])
def test_a_text_is_streamed_whole(dialect: str, text: str) -> None:
    with ModelServer(always(say(text))) as server:
        assert said(dialect, asked(server, dialect)) == text


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_tool_call_is_streamed_whole(dialect: str) -> None:
    with ModelServer(always(call("run", command="echo 'ü' > \"x\"\n"))) as server:
        assert wanted(dialect, asked(server, dialect)) == ("run", {"command": "echo 'ü' > \"x\"\n"})


@pytest.mark.parametrize("dialect", ["anthropic", "responses", "chat"])
def test_what_is_not_streamed_comes_as_one_value(dialect: str) -> None:
    with ModelServer(always(say("Whole."))) as server:
        assert b"Whole." in json.dumps(json.loads(asked(server, dialect, more={"stream": False}))).encode()


def test_gemini_answers_whole_by_another_path() -> None:
    with ModelServer(always(say("Whole."))) as server:
        _, _, data = post(server, "/v1beta/models/m:generateContent", ASKED["gemini"][1])
    assert json.loads(data)["candidates"][0]["content"]["parts"] == [{"text": "Whole."}]


def test_a_free_form_tool_gets_its_text_as_it_is() -> None:
    patch = "*** Begin Patch\n*** End Patch"
    tools = [{"type": "custom", "name": "apply_patch"}]
    with ModelServer(always(Reply((ToolCall("apply_patch", patch),)))) as server:
        reported = events(asked(server, "responses", more={"tools": tools}))
    (item,) = [each["item"] for each in reported if each["type"] == "response.output_item.done"]
    assert (item["type"], item["input"]) == ("custom_tool_call", patch)


def test_a_tool_of_a_namespace_is_called_by_both_names() -> None:
    tools = [{"type": "namespace", "name": "mcp__task", "tools": [{"type": "function", "name": "status"}]}]
    with ModelServer(always(call("mcp__task__status", task="t"))) as server:
        reported = events(asked(server, "responses", more={"tools": tools}))
        item = reported[-1]["response"]["output"][0]
        assert (item["namespace"], item["name"]) == ("mcp__task", "status")
        assert "mcp__task__status" in server.requests[0].conversation.tools


@pytest.mark.parametrize(
    ("dialect", "statuses"),
    [
        ("anthropic", (429, 429, 529, 500, 401, 400, 400)),
        ("responses", (429, 429, 503, 500, 401, 429, 400)),
        ("chat", (429, 429, 503, 500, 401, 429, 400)),
        ("gemini", (429, 429, 503, 500, 400, 403, 400)),
    ],
)
def test_trouble_has_the_vendors_status(dialect: str, statuses: tuple[int, ...]) -> None:
    path, body = ASKED[dialect]
    with ModelServer(in_turn(*(Fault(trouble) for trouble in Trouble))) as server:
        answers = [post(server, path, body) for _ in Trouble]
    assert tuple(status for status, _, _ in answers) == statuses
    assert all(json.loads(data)["error"]["message"] for _, _, data in answers)


def test_a_limit_says_when_to_come_back() -> None:
    path, body = ASKED["anthropic"]
    fault = Fault(Trouble.RATE_LIMITED, retry_after=3600, headers={"x-should-retry": "false"})
    with ModelServer(always(fault)) as server:
        _, headers, _ = post(server, path, body)
    assert headers["retry-after"] == "3600"
    assert headers["x-should-retry"] == "false"


@pytest.mark.parametrize(
    ("dialect", "reported"),
    [
        ("anthropic", lambda headers, _: headers["anthropic-ratelimit-unified-reset"]),
        ("responses", lambda _, body: body["error"]["resets_at"]),
        ("gemini", lambda _, body: body["error"]["details"][0]["violations"] and 1795363200),
    ],
)
def test_a_usage_limit_names_its_reset(dialect: str, reported: Callable[..., Any]) -> None:
    path, body = ASKED[dialect]
    with ModelServer(always(Fault(Trouble.USAGE_LIMIT, resets_at=1795363200.7))) as server:
        status, headers, data = post(server, path, body)
    assert status == 429
    assert int(reported(headers, json.loads(data))) == 1795363200


def test_what_became_of_each_request_is_remembered() -> None:
    path, body = ASKED["anthropic"]
    answers = (say("Yes."), Fault(Trouble.OVERLOADED), Reply((Text("One, two, three."),), then=Then.DROP))
    with ModelServer(in_turn(*answers)) as server:
        for _ in answers:
            with suppress(http.client.IncompleteRead):
                post(server, path, body)
        served = wait_until(lambda: server.served if all(each.ended for each in server.served) else ())
    assert [(each.answer, each.whole) for each in served] == list(
        zip(answers, (True, True, False), strict=True)
    )
    assert all(each.ended and each.ended >= each.request.at for each in served)


def test_a_hang_sends_not_even_headers_and_ends_with_the_server() -> None:
    path, body = ASKED["anthropic"]
    ended: list[BaseException] = []

    def ask(server: ModelServer) -> None:
        try:
            post(server, path, body)
        except (http.client.HTTPException, OSError) as fault:
            ended.append(fault)

    with ModelServer(always(Hang())) as server:
        asking = threading.Thread(target=ask, args=(server,))
        asking.start()
        wait_until(lambda: server.turns)
        assert not ended
    asking.join(10)
    assert ended


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_is_cut_in_the_middle(dialect: str) -> None:
    with (
        ModelServer(always(Reply((Text("One, two, three, four."),), then=Then.DROP))) as server,
        pytest.raises(http.client.IncompleteRead) as cut,
    ):
        asked(server, dialect)
    assert "One" in said(dialect, cut.value.partial)
    assert "four" not in said(dialect, cut.value.partial)


def test_a_stream_hangs_in_the_middle() -> None:
    path, body = ASKED["anthropic"]
    with (
        ModelServer(always(Reply((Text("One, two, three, four."),), then=Then.HANG))) as server,
        connected(server) as line,
    ):
        line.request("POST", path, json.dumps(body))
        came = line.getresponse()
        assert came.status == 200
        assert b"message_start" in came.read1(65536)
        line.sock.settimeout(0.05)
        with pytest.raises(TimeoutError):
            list(iter(lambda: came.read1(65536), b""))


def test_requests_of_a_cli_for_itself_are_no_turns() -> None:
    """What a cli asks for its own ends is no turn of the script."""
    path, body = ASKED["anthropic"]
    with ModelServer(in_turn(say("Mine."))) as server:
        title = {name: value for name, value in body.items() if name != "tools"}
        assert said("anthropic", post(server, path, title)[2]) == "A task"
        assert said("anthropic", asked(server, "anthropic")) == "Mine."
        assert (len(server.requests), len(server.turns)) == (2, 1)


@pytest.mark.parametrize(
    ("path", "field"),
    [("/v1/messages/count_tokens", "input_tokens"), ("/v1beta/models/m:countTokens", "totalTokens")],
)
def test_tokens_are_counted(path: str, field: str) -> None:
    with ModelServer(in_turn()) as server:
        status, _, data = post(server, path, {"messages": []})
    assert status == 200
    assert json.loads(data)[field] > 0


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/claude-x", "/v1beta/models", "/v1/nowhere"])
def test_models_are_listed_and_the_rest_is_not_found(path: str) -> None:
    with ModelServer(in_turn()) as server, connected(server) as line:
        line.request("GET", path)
        came = line.getresponse()
        assert came.status == (404 if path == "/v1/nowhere" else 200)
        assert json.loads(came.read())
        assert [each.path for each in server.requests] == [path]


def test_a_body_in_chunks_is_read_whole() -> None:
    path, body = ASKED["chat"]
    data = json.dumps(body).encode()
    with ModelServer(always(say("Yes."))) as server, connected(server) as line:
        line.request("POST", path, iter([data[:10], data[10:]]), encode_chunked=True)
        assert said("chat", line.getresponse().read()) == "Yes."
        assert server.turns[0].raw == data


def test_a_script_that_is_over_is_a_fault_that_is_kept() -> None:
    with ModelServer(in_turn()) as server:
        with pytest.raises((http.client.HTTPException, OSError)):
            asked(server, "chat")
        assert isinstance(server.faults[0], ScriptIsOver)


def brought_back(dialect: str, body: dict[str, Any], number: int, result: str) -> dict[str, Any]:
    """A CLI's next request: the conversation, the tool call that was answered, and its result."""
    fields = {"command": f"step {number}"}
    use: Json
    back: Json
    match dialect:
        case "anthropic":
            use = {"type": "tool_use", "id": f"t{number}", "name": "run", "input": fields}
            back = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result}
            more = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [back]}]
            return body | {"messages": body["messages"] + more}
        case "responses":
            use = {
                "type": "function_call",
                "name": "run",
                "arguments": json.dumps(fields),
                "call_id": f"c{number}",
            }
            back = {"type": "function_call_output", "call_id": f"c{number}", "output": result}
            return body | {"input": [*body["input"], use, back]}
        case "chat":
            function = {"name": "run", "arguments": json.dumps(fields)}
            use = {"role": "assistant", "tool_calls": [{"id": f"c{number}", "function": function}]}
            back = {"role": "tool", "tool_call_id": f"c{number}", "content": result}
            return body | {"messages": [*body["messages"], use, back]}
        case _:
            use = {"role": "model", "parts": [{"functionCall": {"name": "run", "args": fields}}]}
            back = {
                "role": "user",
                "parts": [{"functionResponse": {"name": "run", "response": {"output": result}}}],
            }
            return body | {"contents": [*body["contents"], use, back]}


def two_steps() -> Script:
    def turn(request):
        (first,) = yield call("run", command="step 1")
        (second,) = yield call("run", command="step 2")
        yield say(f"{len(request.prompt)}: {first.text}, {second.text}")

    return played(turn)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_scripted_agent_gets_the_results_of_its_tools(dialect: str) -> None:
    path, body = ASKED[dialect]
    with ModelServer(two_steps()) as server:
        assert wanted(dialect, post(server, path, body)[2]) == ("run", {"command": "step 1"})
        body = brought_back(dialect, body, 1, "one")
        assert wanted(dialect, post(server, path, body)[2]) == ("run", {"command": "step 2"})
        body = brought_back(dialect, body, 2, "two")
        assert said(dialect, post(server, path, body)[2]) == f"{len(ORDER)}: one, two"


def test_repeated_request_gets_the_same_answer() -> None:
    """A played agent answers the same again when a request is tried again."""
    path, body = ASKED["anthropic"]
    with ModelServer(two_steps()) as server:
        once = wanted("anthropic", post(server, path, body)[2])
        assert wanted("anthropic", post(server, path, body)[2]) == once


def test_what_a_cli_says_of_the_folder_is_no_word_of_the_user() -> None:
    reminder = {"type": "text", "text": "<system-reminder>\nIt is Friday.\n</system-reminder>"}
    body = ASKED["anthropic"][1] | {
        "messages": [{"role": "user", "content": [reminder, {"type": "text", "text": ORDER}]}]
    }
    with ModelServer(always(say("Yes."))) as server:
        post(server, "/v1/messages", body)
        assert server.turns[0].prompts == (ORDER,)
