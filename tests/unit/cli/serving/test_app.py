"""The application in this process: who is let in, what may be sent, and what comes of an answer."""

import json

import pytest

from orchestrator.cli.serving import app as app_module
from orchestrator.cli.serving import reports
from tests.unit.cli.serving.visitor import Visitor
from tests.unit.reporting.journal import Lines

TIDY = "tidy-0a1b2c3d"
FILES = ("", "page.css", "live.js", "events", f"report/{TIDY}", "nothing")


@pytest.fixture
def visitor(house):
    return Visitor(str(house.state)).signed_in()


def page_after(visitor, reply):
    """What the page says after a form was taken."""
    assert reply.status == 303, reply.text
    where = reply.headers["location"]
    assert where.startswith(f"{visitor.access.root}?note=")
    return visitor.ask("GET", where, {}).text


# Who is let in -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES)
def test_a_stranger_sees_nothing(house, path):
    house.task(questions=[house.question()])
    stranger = Visitor(str(house.state))
    for cookie in ("", "task-serve=", "task-serve=x", f"other={stranger.access.session}"):
        stranger.cookie = cookie
        reply = stranger.get(path)
        assert (reply.status, "tidy" in reply.text) == (403, False)
    assert stranger.ask("GET", "/", {}).status == 403
    assert stranger.answer(TIDY, "q1", option="1").status == 403


def test_the_token_is_exchanged_for_a_cookie(house):
    """The reply itself asks for what follows: a redirect from elsewhere would bring no strict cookie."""
    house.task()
    visitor = Visitor(str(house.state))
    reply = visitor.get(f"?token={visitor.access.token}")
    assert reply.headers["set-cookie"] == visitor.access.cookie
    assert (reply.status, f"url={visitor.access.root}" in reply.text, "tidy" in reply.text) == (
        200,
        True,
        False,
    )
    visitor.cookie = reply.headers["set-cookie"].partition(";")[0]
    assert "tidy" in visitor.get().text
    assert visitor.access.token not in visitor.get().text


@pytest.mark.parametrize("token", ["", "x", "%00", "a&token=b"])
def test_another_token_gives_no_cookie(house, token):
    reply = Visitor(str(house.state)).get(f"?token={token}")
    assert (reply.status, "set-cookie" in reply.headers) == (403, False)


def test_a_token_elsewhere_gives_no_cookie(house):
    visitor = Visitor(str(house.state))
    assert visitor.get(f"events?token={visitor.access.token}").status == 403
    many = "&".join([f"token={visitor.access.token}"] * 50)
    assert visitor.get(f"?{many}").status == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8417", "127.0.0.1.evil.example:8417", ""])
def test_another_name_for_this_server_is_refused(house, visitor, host):
    """DNS rebinding: a name of somebody else's leads here, and the browser believes that the pages are his."""
    house.task()
    reply = visitor.get(host=host)
    assert (reply.status, "tidy" in reply.text) == (403, False)
    assert visitor.get("", host="localhost:9999").status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"])
def test_other_methods_are_refused(visitor, method):
    assert visitor.ask(method, visitor.access.root, {}).status == 405


def test_nothing_but_an_answer_can_be_posted(visitor):
    origin = {"origin": "http://127.0.0.1:8417"}
    for path in ("", "page.css", "events", f"report/{TIDY}", "stop"):
        assert visitor.ask("POST", visitor.access.root + path, origin).status in {404, 405}


@pytest.mark.parametrize("path", FILES)
def test_each_reply_has_its_headers(house, visitor, path):
    house.task()
    headers = visitor.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert {"base-uri 'none'", "frame-ancestors 'none'"} <= set(policy.split("; "))
    assert not {"unsafe-eval", "http:", "https:", "*", "data:"} & set(policy.replace("'", "").split())
    assert "script-src 'unsafe-inline'" not in policy
    assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")
    assert headers["referrer-policy"] == "same-origin"


# Answers -----------------------------------------------------------------------------------------


def test_an_option_is_an_answer(house, daemon, visitor):
    house.task(questions=[house.question()])
    assert "tidy, answer to q1: so be it" in page_after(
        visitor, visitor.answer(TIDY, "q1", option="2", text="no")
    )
    assert [each["arguments"] for each in daemon.heard] == [{"question": "q1", "text": "rename"}]
    assert [each["verb"] for each in daemon.heard] == ["answer"]


def test_a_text_is_an_answer_byte_for_byte(house, daemon, visitor):
    house.task(questions=[house.question(options=[])])
    page_after(visitor, visitor.answer(TIDY, "q1", option="0", text="<b>no</b> & é\r\n-x #{y}"))
    assert [each["arguments"]["text"] for each in daemon.heard] == ["<b>no</b> & é\r\n-x #{y}"]


def test_an_option_that_looks_like_a_number_is_itself(house, daemon, visitor):
    house.task(questions=[house.question(options=["2", "1"])])
    page_after(visitor, visitor.answer(TIDY, "q1", option="1"))
    assert [each["arguments"]["text"] for each in daemon.heard] == ["2"]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"option": "0", "text": "  "}, "is empty"),
        ({"option": "9"}, "is empty"),
        ({"option": "-1"}, "is empty"),
        ({"option": "²"}, "is empty"),
        ({}, "is empty"),
        ({"question": "q2", "option": "1"}, "no open question"),
        ({"task": "other-0a1b2c3d", "option": "1"}, "no such task"),
        ({"task": "../../etc", "option": "1"}, "no such task"),
        ({"task": "", "option": "1"}, "no such task"),
    ],
)
def test_what_is_no_answer_is_not_sent(house, daemon, visitor, form, said):
    house.task(questions=[house.question()])
    whole = {"form": visitor.access.form, "task": TIDY, "question": "q1"} | form
    assert said in page_after(visitor, visitor.post(whole))
    assert daemon.heard == []


def test_what_the_daemon_says_against_it_is_shown(house, daemon, visitor):
    house.task(questions=[house.question()])
    daemon.reply = lambda _home, _request: (False, "q1 is <b>answered</b> already")
    page = page_after(visitor, visitor.answer(TIDY, "q1", option="1"))
    assert "q1 is &lt;b&gt;answered&lt;/b&gt; already" in page


def test_an_answer_waits_for_a_daemon_that_is_down(house, visitor):
    home = house.task(questions=[house.question()])
    assert "the request stays pending" in page_after(visitor, visitor.answer(TIDY, "q1", option="1"))
    (request,) = (home / "requests").iterdir()
    assert json.loads(request.read_text())["arguments"] == {"question": "q1", "text": "keep"}


def test_what_came_of_an_answer_is_shown_once(house, daemon, visitor):
    house.task(questions=[house.question()])
    reply = visitor.answer(TIDY, "q1", option="1")
    assert "so be it" in page_after(visitor, reply)
    assert "so be it" not in page_after(visitor, reply)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": ""},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:3000"},
        {"origin": "http://localhost:8417"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"host": "evil.example:8417", "origin": "http://evil.example:8417"},
    ],
)
def test_a_form_of_another_page_is_refused(house, daemon, visitor, headers):
    """Also one that knows the form's secret: a server at another port is the same site, but not the same origin."""
    house.task(questions=[house.question()])
    form = {"form": visitor.access.form, "task": TIDY, "question": "q1", "option": "1"}
    assert visitor.post(form, **headers).status == 403
    assert daemon.heard == []


@pytest.mark.parametrize("secret", ["", "x", "another"])
def test_a_form_without_its_secret_is_refused(house, daemon, visitor, secret):
    house.task(questions=[house.question()])
    assert visitor.post({"form": secret, "task": TIDY, "question": "q1", "option": "1"}).status == 403
    assert daemon.heard == []


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b'{"task": "tidy"}', "application/json", 415),
        (b"x", "text/plain", 415),
        (b"x", "", 415),
        (b"a=" + b"x" * app_module.FORM_BYTES, "application/x-www-form-urlencoded", 413),
        (b"&".join(b"a=1" for _ in range(100)), "application/x-www-form-urlencoded", 403),
        (b"\xff\xfe=%ff", "application/x-www-form-urlencoded", 403),
        (b"", "application/x-www-form-urlencoded", 403),
    ],
)
def test_odd_forms_are_refused(visitor, body, kind, status):
    assert visitor.post(body, content_type=kind).status == status


# What is shown -----------------------------------------------------------------------------------


def test_the_style_and_the_script_are_files_of_ours(visitor):
    style, script = visitor.get("page.css"), visitor.get("live.js")
    assert style.headers["content-type"].startswith("text/css")
    assert "prefers-color-scheme: dark" in style.text
    assert script.headers["content-type"].startswith("text/javascript")
    assert "EventSource" in script.text


def test_the_report_is_the_page_of_task_report(house, visitor):
    home = house.task()
    lines = Lines()
    lines.begin()
    lines.say("time_passed", {"kind": "noticed", "text": "<script>alert(1)</script>"})
    (home / "journal").mkdir()
    (home / "journal" / "0000000001.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    reply = visitor.get(f"report/{TIDY}")
    assert (reply.status, reply.text.startswith("<!doctype html>")) == (200, True)
    assert "&lt;script&gt;alert(1)" in reply.text
    assert "script-src" not in reply.headers["content-security-policy"]


@pytest.mark.parametrize("task", ["other-0a1b2c3d", "--help", "..", "%2e%2e", "tidy"])
def test_a_report_of_no_task_is_not_made(house, visitor, monkeypatch, task):
    house.task()
    monkeypatch.setattr(reports, "COMMAND", ("false",))
    assert visitor.get(f"report/{task}").status == 404


def test_a_report_that_cannot_be_made_says_why(house, visitor, monkeypatch):
    house.task()
    monkeypatch.setattr(reports, "COMMAND", ("sh", "-c", "echo 'no <b> journal' >&2; exit 1"))
    reply = visitor.get(f"report/{TIDY}")
    assert (reply.status, "no <b> journal" in reply.text) == (500, True)
    assert reply.headers["content-type"].startswith("text/plain")
