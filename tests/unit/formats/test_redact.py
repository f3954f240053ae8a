import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from orchestrator.formats import redact
from orchestrator.formats.redact import MASK, LineMask, redacted, redacted_lines

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
    "sk-" + "a1B2c3D4" * 6,
    "sk-or-v1-" + "0a1b2c3d" * 8,
    "glrt-" + "aBcD1234" * 3,
    "xapp-1-A0123456789-" + "0123456789",
    "xoxe-1-" + "aBcD1234" * 4,
    "GOCSPX-" + "aBcD1234" * 3,
    "ya29." + "aBcD1234" * 5,
    "rk_live_" + "aBcD1234" * 3,
    "whsec_" + "aBcD1234" * 4,
    "npm_" + "aBcD1234" * 5,
    "pypi-AgEIcHlwaS5vcmc" + "aBcD1234" * 4,
    "hf_" + "aBcD1234" * 5,
    "gsk_" + "aBcD1234" * 6,
    "dckr_pat_" + "aBcD1234" * 3,
    "dop_v1_" + "0a1b2c3d" * 8,
    "dapi" + "0a1b2c3d" * 4,
    "shpat_" + "0a1b2c3d" * 4,
    "SG." + "aBcD1234" * 3 + "." + "aBcD1234" * 5,
    "hvs." + "aBcD1234" * 4,
    "abc8Q~" + "aBcD1234" * 4,
    "123456789:AA" + "aBcD1234" * 4 + "x",
    "tskey-auth-" + "aBcD1234" * 3,
    "AGE-SECRET-KEY-1" + "QPZRY9X8" * 7,
    "glsa_" + "aBcD1234" * 4,
    "eyJhbGciOiJSU0EtT0FFUCJ9.OKOawDo13gRp.48V1_ALb6US04U3b.5eym8TW_c8SuK0lt.XFBoMYUZodetZdvT",
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
        ("Authorization: AWS4-HMAC-SHA256 Credential=x/y", "Authorization: AWS4-HMAC-SHA256 [redacted]"),
        ("-H 'Authorization: abcdefgh'", "-H 'Authorization: [redacted]'"),
        ('{"Authorization": "Token abcdefgh"}', '{"Authorization": "Token [redacted]"}'),
        ("Proxy-Authorization: Basic abcdefgh", "Proxy-Authorization: Basic [redacted]"),
        ("Cookie: session=abc; x=1", "Cookie: session=[redacted]; x=1"),
        ("Set-Cookie: sid=abc; HttpOnly", "Set-Cookie: sid=[redacted]; HttpOnly"),
        ("sent as bearer 0a1b2c3d4e5f6789", "sent as bearer [redacted]"),
        ("https://me:p@ss@host/x", "https://me:[redacted]@host/x"),
        ("redis://:hunter2@cache:6379/0", "redis://:[redacted]@cache:6379/0"),
        ("postgresql+psycopg://a:b@h,i/d", "postgresql+psycopg://a:[redacted]@h,i/d"),
        ("mongodb+srv://a:b@h/?w=1", "mongodb+srv://a:[redacted]@h/?w=1"),
        ("Server=h;User Id=a;Password=b;", "Server=h;User Id=a;Password=[redacted];"),
        ("Server=h;Uid=a;Pwd=b;", "Server=h;Uid=a;Pwd=[redacted];"),
        ("AccountName=a;AccountKey=Zm9v+/==;E=x", "AccountName=a;AccountKey=[redacted];E=x"),
        ("SharedAccessKey=Zm9v", "SharedAccessKey=[redacted]"),
        ("https://h/b?se=1&sig=abcdefghij%2Fklmnopqr%3D&x=1", "https://h/b?se=1&sig=[redacted]&x=1"),
        ("https://h/b?X-Amz-Signature=0123456789abcdef0", "https://h/b?X-Amz-Signature=[redacted]"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7", "aws_secret_access_key = [redacted]"),
        ("https://hooks.slack.com/services/T0/B0/abcdefgh", "https://hooks.slack.com/services/[redacted]"),
        ("discord.com/api/webhooks/123456/abcdef", "discord.com/api/webhooks/[redacted]"),
        ("machine h login a password b", "machine h login a password [redacted]"),
        ("machine h\n  login a\n  password b\n", "machine h\n  login a\n  password [redacted]\n"),
        ("curl -u me:hunter2 https://h", "curl -u me:[redacted] https://h"),
        ("tool --password hunter2 --x", "tool --password [redacted] --x"),
        ("tool --api-key hunter2", "tool --api-key [redacted]"),
        ("otpauth://totp/a?secret=JBSWY3DP", "otpauth://totp/a?secret=[redacted]"),
        ("PGPASSWORD=x psql", "PGPASSWORD=[redacted] psql"),
        ("SIGNING_KEY=x", "SIGNING_KEY=[redacted]"),
        (
            r'"private_key": "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n"',
            '"private_key": [redacted]',
        ),
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
        "488c98862f14a2e1a6d3e0f9b8c7a6d5e4f3b2a1",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "0e37df36-f698-11e6-8dd4-cb9ced3df976",
        "run r-0123456789abcdef of tidy-0a1b2c3d",
        "pm-20251127-153000.md and dev-2-20251127-154500.md",
        "task/tidy-the-secrets-0a1b2c3d at refs/tasks/token-parser-0a1b2c3d",
        "basic functionality and bearer instrumentation",
        "Basic authentication is refused",
        "sk-learn-pipeline-step-for-spacing",
        "PWD=/home/me; cd x",
        "password=None, token=null, secret=$SECRET, api_key=${KEY}, token=<yours>, password=***",
        'password = "" and token=',
        "def login(password: str, token: str) -> None:",
        "the authorization is missing: see the docs",
        "cookie: a small biscuit",
        "login a with password",
        "-u me and --user me; --token",
        "Password: ",
        "https://host/a:b/c@d",
        "v1.2.3-rc.1+build.0123456789abcdef0123456789abcdef",
        "integrity sha512-Zm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9vYmFyZm9vYg==",
        "artifacts/tests/test_token_refresh_after_expiry-20251127.txt",
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


@example("abc8Q~" + "aBcD1234" * 4, ":", "...")  # its own signs behind it counted as more of it
@given(
    st.sampled_from(SECRETS),
    st.text(" .,;:=\n\"'()[]{}<>", min_size=1),
    st.text(" .,;:=\n\"'()[]{}<>", min_size=1),
)
def test_no_sign_beside_a_key_hides_it(secret, before, after):
    assert secret not in redacted(f"{before}{secret}{after}")


KEY = [
    "-----BEGIN RSA PRIVATE KEY-----",
    "MIIEowIBAAKCAQEA7",
    "b3BlbnNzaC1rZXk=",
    "-----END RSA PRIVATE KEY-----",
]


def test_a_key_that_comes_line_by_line_is_masked_to_its_end():
    masking = LineMask()
    shown = [masking.line(line) for line in ["cat key", *KEY, "done", "token=a"]]
    assert shown == ["cat key", MASK, MASK, MASK, MASK, "done", f"token={MASK}"]


def test_what_follows_a_key_on_its_last_line_is_read_again():
    masking = LineMask()
    masking.line(KEY[0])
    assert masking.line(f"{KEY[-1]} {KEY[0]}") == f"{MASK} {MASK}"
    assert masking.line("MII") == MASK
    assert masking.line(f"{KEY[-1]} {KEY[0]} a {KEY[-1]} b") == f"{MASK} {MASK} b"
    assert masking.line("c") == "c"


def test_end_of_a_private_key_is_known_by_its_last_line():
    assert redacted_lines(["what was", *KEY[1:], "next"]) == ["what was", MASK, MASK, MASK, "next"]
    assert redacted_lines([*KEY, "x"]) == [MASK] * 4 + ["x"]
    assert redacted_lines(["-----END CERTIFICATE-----"]) == ["-----END CERTIFICATE-----"]
    assert redacted_lines([]) == []


@given(st.lists(st.sampled_from([*KEY, *SECRETS[:3], "x", "password=a b", "-----END X-----"])))
def test_line_by_line_masks_no_less_than_the_whole(lines):
    masking = LineMask()
    shown = "\n".join(masking.line(line) for line in lines)
    assert redacted(shown) == shown
    assert not any(
        part in shown
        for part in (*KEY[:3], *SECRETS[:3])
        if part in "\n".join(lines) and part not in redacted("\n".join(lines))
    )


PATTERNS = [
    (redact._DOTTED, redact._OF_DOTTED),
    (redact._ASSIGNED, redact._OF_ASSIGNED),
    *(
        (pattern, tuple(sign for sign, each in redact._BY_SIGN if each is pattern))
        for pattern in dict.fromkeys(each for _, each in redact._BY_SIGN)
    ),
]


@pytest.mark.parametrize(("pattern", "signs"), PATTERNS, ids=[str(n) for n in range(len(PATTERNS))])
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_pattern_without_its_sign_matches_nothing(pattern, signs, data):
    """A text without a sign is not even searched: what the pattern could find there would not be masked."""
    text = data.draw(st.from_regex(pattern))
    assert any(sign in text for sign in signs)
