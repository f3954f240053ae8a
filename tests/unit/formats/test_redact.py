import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.redact import MASK, redacted

SECRETS = [
    "sk-proj-abcdefghijklmnop1234",
    "sk-ant-api03-abcdefghijklmnopqrstuv_-XYZ",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "gho_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11ABCDEFG0abcdefghijklmn_opqrst",
    "glpat-abcdefghijklmnopqrst",
    "AKIAIOSFODNN7EXAMPLE",
    "ASIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-abcdefghijkl",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "sk_live_abcdefghijklmnop1234",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "text", ["{}", "the key is {}.", "curl -H 'x: {}' y", "KEY={}", '{{"k":"{}"}}', "`{}`"]
)
def test_known_keys_are_masked(secret, text):
    clean = redacted(text.format(secret))
    assert secret not in clean
    assert MASK in clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [redacted]"),
        ("authorization: basic dXNlcjpwYXNzd29yZA==", "authorization: basic [redacted]"),
        ("password=hunter2 next", "password=[redacted] next"),
        ("DB_PASSWORD='hunter 2'; x", "DB_PASSWORD=[redacted]; x"),
        ("export OPENAI_API_KEY=abc", "export OPENAI_API_KEY=[redacted]"),
        ('{"password": "hunter2"}', '{"password": [redacted]}'),
        ("token: 0a1b2c3d4e5f", "token: [redacted]"),
        ("?token=abc&x=1", "?token=[redacted]&x=1"),
        ("Client_Secret = abc", "Client_Secret = [redacted]"),
        ("git clone https://me:hunter2@host/x", "git clone https://me:[redacted]@host/x"),
        ("a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb", "a\n[redacted]\nb"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nabc", "[redacted]"),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nabc\n-----END PGP PRIVATE KEY BLOCK-----", "[redacted]"),
    ],
)
def test_what_is_assigned_to_a_secret_is_masked(text, clean):
    assert redacted(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "The token: a word that a lexer makes",
        "max_tokens=4096 and tokens: 12",
        "the password is asked for",
        "risk-based-testing-of-all-the-things",
        "task-0123456789abcdef",
        "https://host:8080/x@y",
        "secret: none",
        "a bearer of news",
        "-----BEGIN CERTIFICATE-----",
        "sk-short",
        "git@host:path",
    ],
)
def test_other_text_stays(text):
    assert redacted(text) == text


@given(
    st.text()
    | st.lists(
        st.sampled_from([*SECRETS, "password=", "token: ", '"', "'", " ", "[redacted]", "://a:b@"])
    ).map("".join)
)
def test_masked_text_stays_as_it_is(text):
    assert redacted(redacted(text)) == redacted(text)


@given(
    st.sampled_from(SECRETS),
    st.text(" .,;:=\n\"'()[]{}<>", min_size=1),
    st.text(" .,;:=\n\"'()[]{}<>", min_size=1),
)
def test_no_sign_beside_a_key_hides_it(secret, before, after):
    assert secret not in redacted(f"{before}{secret}{after}")
