"""Who may look and answer."""

import pytest

from orchestrator.cli.serving.access import Access, is_from_here, is_local


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1:8417", True),
        ("localhost:9000", True),
        ("LOCALHOST", True),
        ("[::1]:80", True),
        ("[::1]", True),
        ("127.0.0.1", True),
        ("", False),
        (":8417", False),
        ("evil.example:8417", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example:8417", False),
        ("127.0.0.1:8417.evil.example", False),
        ("evil.example:127.0.0.1", False),
        ("localhost:8417@evil.example", False),
        ("localhost:", False),
        ("localhost:²", False),
        ("127.0.0.2:8417", False),
        ("0.0.0.0:8417", False),
        ("192.168.1.7:8417", False),
    ],
)
def test_only_loopback_is_a_host(host, local):
    assert is_local(host) is local


@pytest.mark.parametrize(
    ("headers", "ours"),
    [
        ({"host": "localhost:9000", "origin": "http://localhost:9000"}, True),
        (
            {
                "host": "localhost:9000",
                "origin": "http://localhost:9000",
                "sec-fetch-site": "same-origin",
            },
            True,
        ),
        ({"host": "localhost:9000"}, False),
        ({"host": "localhost:9000", "origin": "null"}, False),
        ({"host": "localhost:9000", "origin": "http://localhost:3000"}, False),
        ({"host": "localhost:9000", "origin": "http://127.0.0.1:9000"}, False),
        ({"host": "localhost:9000", "origin": "https://localhost:9000"}, False),
        ({"host": "localhost:9000", "origin": "http://localhost:9000.evil.example"}, False),
        (
            {"host": "localhost:9000", "origin": "http://localhost:9000", "sec-fetch-site": "same-site"},
            False,
        ),
    ],
)
def test_a_post_comes_from_a_page_of_this_server(headers, ours):
    assert is_from_here(headers) is ours


def test_each_life_has_secrets_of_its_own():
    one, other = Access(), Access()
    secrets = [one.token, one.session, one.form, one.root, other.token, other.session, other.form, other.root]
    assert len(set(secrets)) == len(secrets)
    assert min(map(len, (one.token, one.session, one.form))) >= 43
    assert one.admits(one.token)
    assert not one.admits(other.token)
    assert not one.admits("")
    assert not one.admits(one.session)
    assert not one.knows(one.token)
    assert not one.wrote("é")


def test_the_cookie_is_for_this_path_alone():
    """Cookies know no ports: another server of this machine would be sent it, perhaps one that an agent started."""
    access = Access()
    parts = access.cookie.split("; ")
    assert parts[1:] == [f"Path={access.root}", "HttpOnly", "SameSite=Strict"]
    assert access.token not in access.cookie
