import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.ssh_words import LONGEST, fingerprint, read_words
from orchestrator.formats.text import neutral
from orchestrator.model.boxes import Trouble

CHANGED = """\
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
Someone could be eavesdropping on you right now (man-in-the-middle attack)!
It is also possible that a host key has just been changed.
The fingerprint for the ED25519 key sent by the remote host is
SHA256:/v57AMi8A7PB8fhnGjfzlySoqOYKMP7Zhnws30KCz9Q.
Please contact your system administrator.
Add correct host key in /home/u/with space/known to get rid of this message.
Offending ED25519 key in /home/u/with space/known:17
  remove with:
  ssh-keygen -f "/home/u/with space/known" -R "[127.0.0.1]:34022"
Host key for [127.0.0.1]:34022 has changed and you have requested strict checking.
Host key verification failed.
"""


@pytest.mark.parametrize(
    ("text", "trouble", "why"),
    [
        (
            (
                "No ED25519 host key is known for [127.0.0.1]:34022 and you have requested strict checking.\r\n"
                "Host key verification failed.\r\n"
            ),
            Trouble.UNKNOWN_HOST,
            "No ED25519 host key is known for [127.0.0.1]:34022 and you have requested strict checking.",
        ),
        (
            "Host key verification failed.\nConnection closed by UNKNOWN port 65535\n",
            Trouble.UNKNOWN_HOST,
            "Host key verification failed.",
        ),
        ("u@box: Permission denied (publickey).", Trouble.AUTH, "u@box: Permission denied (publickey)."),
        (
            'sign_and_send_pubkey: signing failed for ED25519 "k" from agent: agent refused operation\n',
            Trouble.AUTH,
            'sign_and_send_pubkey: signing failed for ED25519 "k" from agent: agent refused operation',
        ),
        (
            (
                "Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures\n"
                "Disconnected from 10.0.0.1 port 22"
            ),
            Trouble.AUTH,
            "Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures",
        ),
        (
            (
                "/home/u/.ssh/config: line 3: Bad configuration option: hosst\n"
                "/home/u/.ssh/config: terminating, 1 bad configuration options"
            ),
            Trouble.SETTINGS,
            "/home/u/.ssh/config: line 3: Bad configuration option: hosst",
        ),
        (
            "Bad owner or permissions on /home/u/.ssh/config",
            Trouble.SETTINGS,
            "Bad owner or permissions on /home/u/.ssh/config",
        ),
        (
            "Unable to negotiate with 10.0.0.1 port 22: no matching key exchange method found.",
            Trouble.SETTINGS,
            "Unable to negotiate with 10.0.0.1 port 22: no matching key exchange method found.",
        ),
        (
            "ssh: connect to host 10.0.0.1 port 22: No route to host",
            Trouble.UNREACHABLE,
            "ssh: connect to host 10.0.0.1 port 22: No route to host",
        ),
        (
            "ssh: Could not resolve hostname box: Temporary failure in name resolution\n\n",
            Trouble.UNREACHABLE,
            "ssh: Could not resolve hostname box: Temporary failure in name resolution",
        ),
        ("", Trouble.UNREACHABLE, "ssh ended without a message"),
    ],
)
def test_ssh_words_are_classified(text, trouble, why):
    words = read_words(text)
    assert (words.trouble, words.why) == (trouble, why)
    assert (words.offered, words.known_in, words.line) == ("", "", 0)


def test_of_a_changed_key_both_are_named():
    words = read_words(CHANGED)
    assert words.trouble is Trouble.CHANGED_KEY
    assert words.offered == "SHA256:/v57AMi8A7PB8fhnGjfzlySoqOYKMP7Zhnws30KCz9Q"
    assert (words.known_in, words.line) == ("/home/u/with space/known", 17)
    assert words.why.startswith("Host key for [127.0.0.1]:34022 has changed")


@pytest.mark.parametrize("names", ["box,10.0.0.1", "|1|c2FsdA==|aGFzaA==", "@cert-authority *.example.com"])
def test_the_known_key_has_a_fingerprint(names):
    # ssh-keygen -lf says the same of this line.
    line = f"{names} ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJjtmcKWbcJdAuxqTBzX7kNdAoeIqpBZzmFRh0aqhQ7j a note"
    assert fingerprint(line) == "SHA256:X3YBUbwbJ01mH+nRcsf7Up/0gAEI3FtZXM7qf5EIgEo"


@pytest.mark.parametrize("line", ["", "# a note", "box ssh-ed25519", "box ssh-ed25519 not/base64!"])
def test_a_line_without_a_key_has_none(line):
    assert fingerprint(line) == ""


@given(st.text() | st.text("Permission denied (\x1b\r\n"))
def test_what_is_shown_can_do_nothing_to_a_terminal(text):
    why = read_words(text).why
    assert why == neutral(why)
    assert 0 < len(why) <= LONGEST
