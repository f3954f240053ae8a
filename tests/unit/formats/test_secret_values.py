"""Values of files like `.env`, masked by what they are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.secret_values import values_in, without_values

ENV = b"""\
# of the database
DB_PASSWORD=hunter2
export API_KEY="a b c d"
DATABASE=postgres://me:pw1@db/shop
PIN=12345678
MODE=development
DEBUG=true
token: 'tok1'
"name": "plainwords",
AUTH=abc
"""


def test_values_that_could_be_secrets_are_found() -> None:
    assert values_in(ENV) == {"hunter2", "a b c d", "postgres://me:pw1@db/shop", "tok1"}


def test_the_longest_value_is_masked_first() -> None:
    assert without_values("x hunter22 y hunter2", {"hunter2", "hunter22"}) == "x [redacted] y [redacted]"


@given(st.binary(max_size=300), st.text(max_size=100))
def test_any_file_is_read_and_no_value_stays(data: bytes, text: str) -> None:
    values = values_in(data)
    shown = without_values(text + "".join(values), values)
    assert all(len(value) >= 4 for value in values)
    assert not [value for value in values if value in shown and value not in "[redacted]" * 50]
