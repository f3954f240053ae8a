import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.location import address_of, read_location, render_location, split_placed
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Refused
from orchestrator.model.task import Location


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("/path/to/dds-module", Location("/path/to/dds-module")),
        (" /with space/x ", Location("/with space/x")),
        ("/with:colon", Location("/with:colon")),
        ("~", Location("~")),
        ("~/repo", Location("~/repo")),
        ("user@remote:/path/to/repo", Location("/path/to/repo", "user@remote")),
        ("box:/srv/with space", Location("/srv/with space", "box")),
        ("ssh://user@host:2222/repo", Location("/repo", "user@host:2222")),
        ("ssh://host/repo", Location("/repo", "host")),
        ("user@[2001:db8::1]:/repo", Location("/repo", "user@[2001:db8::1]")),
        ("ssh://user@[::1]:22/repo", Location("/repo", "user@[::1]:22")),
        ("build_1.example.com:/x", Location("/x", "build_1.example.com")),
        ("box:/srv/shop/", Location("/srv/shop", "box")),
        ("box:/srv/./shop//", Location("/srv/shop", "box")),
        ("ssh://box:2222//srv/shop/", Location("/srv/shop", "box:2222")),
        ("box:/", Location("/", "box")),
        ("box:/srv/~/x", Location("/srv/~/x", "box")),
    ],
)
def test_places_are_read(text, place):
    assert read_location(text) == place
    assert read_location(render_location(place)) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        "relative/path",
        "./x",
        "../x",
        "~other/x",
        "$HOME/x",
        "-oProxyCommand=touch /tmp/x:/x",
        "-R:/x",
        "user@-oProxyCommand=x:/x",
        "-x@host:/x",
        "user@host$(x):/p",
        "user@host:/p$(x)",
        "/p`x`",
        "/p$(x)",
        "host:relative",
        "host:",
        "user@host:/srv/../repo",
        "ssh://user@host/..",
        "user@:/x",
        "@host:/x",
        "a@b@c:/x",
        "us er@host:/x",
        "user@ho st:/x",
        "user@2001:db8::1:/x",
        "user@[::1:/x",
        "ssh://user@host:99999/x",
        "ssh://user@host:0/x",
        "ssh://user@host:port/x",
        "ssh://user@host",
        "ssh://-oProxyCommand=x/x",
        "http://host/x",
        "user@host:/a\x1b[2J",
        "/a\tb",
        "/a\nb",
        "[path]",
        ":/x",
        "hоst:/x",  # noqa: RUF001 - a Cyrillic letter
    ],
)
def test_other_texts_are_refused_with_the_rule(text):
    with pytest.raises(Refused, match=r"write (/path, ~/path, )?user@host:/path or ssh://|the port must be"):
        read_location(text)


@pytest.mark.parametrize(
    "text",
    [
        "box:~",
        "box:~/x",
        "me@box:~root/x",
        "box:/~/x",
        "ssh://box/~/x",
        "ssh://me@box:2222/~me/x",
        "farm:~/x",
    ],
)
def test_home_of_another_machine_is_refused_with_remedy(text):
    """`ssh://box/~/x` and `box:/~/x` were taken for a folder that is called `~`, and `box:~/x` was told of `~/path`."""
    with pytest.raises(
        Refused, match=r"not expanded on another machine: write the whole path, as `pwd` prints"
    ):
        read_location(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("podman:alpine:/srv/repo", ("podman:alpine", "/srv/repo")),
        ("podman:localhost:5000/agents:1:/srv/repo", ("podman:localhost:5000/agents:1", "/srv/repo")),
        ("podman:alpine#online:/srv/repo", ("podman:alpine#online", "/srv/repo")),
        ("k8s:agents/small:~/repo", ("k8s:agents/small", "~/repo")),
        ("podman:alpine", None),
        ("box:/srv/a:/b", None),
        ("box:22:/srv", None),
        ("user@box:/srv:/x", None),
        ("ssh://box:22/srv:/x", None),
    ],
)
def test_a_place_in_a_host_of_a_kind_is_parted(text, parts):
    assert split_placed(text) == parts


@given(st.text() | st.text("ab@:/-[]$(`~ .1", max_size=20))
def test_a_place_is_safe_as_an_argument(text):
    try:
        place = read_location(text)
    except Refused:
        return
    assert place.path[0] in ("/" if place.host else "/~")
    assert not place.host or place.path == posixpath.normpath(place.path)
    assert not place.host.startswith("-")
    assert not set(place.host) & set("$`() \t\n;&|<>'\"\\*?!#/")
    assert read_location(render_location(place)) == place


@pytest.mark.parametrize(
    ("text", "address", "words"),
    [
        ("box:/x", Address("box"), ["--", "box"]),
        ("me@box:/x", Address("box", "me"), ["-l", "me", "--", "box"]),
        ("ssh://box:2222/x", Address("box", "", 2222), ["-p", "2222", "--", "box"]),
        ("ssh://me@[::1]:22/x", Address("::1", "me", 22), ["-l", "me", "-p", "22", "--", "::1"]),
        ("[fe80::1%eth0]:/x", Address("fe80::1%eth0"), ["--", "fe80::1%eth0"]),
    ],
)
def test_address_is_passed_to_ssh_as_separate_words(text, address, words):
    place = read_location(text)
    assert address_of(place) == address
    assert address.words() == words
    assert str(address) == place.host


@pytest.mark.parametrize("host", ["", "-oProxyCommand=x", "a b", "me@-x", "box;x", "box:port"])
def test_what_is_no_address_is_refused(host):
    with pytest.raises(Refused, match="no address of a box"):
        address_of(Location("/x", host))
