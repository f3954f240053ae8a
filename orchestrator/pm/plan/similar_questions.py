"""Whether two questions ask the same thing, judged by their words and by the names and numbers in them.

No model is asked: the same two texts always get the same answer. Fillers are dropped, words are reduced to their stems,
and a short list joins words of one meaning. What is left of the shorter question must stand in the longer one. Four
things tell questions apart although they share their words: other names, other numbers, a negation, and two words that
changed places.

`question_pairs.tsv` beside this file has labelled pairs. `SIMILAR` is set by them, and a test holds the figures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from orchestrator.formats.text import names

SIMILAR: Final = 0.7
"""Two questions are similar from this part on of the shorter one's words. Set by the labelled pairs."""

_SPELLING: Final = 88.0
"""Two stems are one word from this ratio on: in a word of eight letters, one may be another."""

_PREFIX: Final = 4
"""A stem of so many letters is the same word as one that begins with it: `hand` and `handover`."""

_PART: Final = 0.2
_PART_OF_ONE: Final = 0.5
"""What two questions share must be this part of all their words: a short question stands in every long text. More is
wanted of a question with one word of substance."""

_LONGEST: Final = 1500
"""How many characters of a question are compared."""

_INCIDENTAL: Final = re.compile(
    r"""
      (?m: ^ ) \W* \w*\d\w* \s* :                       # note_002: ...
    | , \s* \d+ \b                                      # the same again, 3
    | \b (?:lines?|attempt|try|run) \s+ \w*\d\w*         # line 42, attempt 3, run 7f3a2b
    | \b \d\d:\d\d (?: :\d\d )? \b                       # 14:02
    | \b \d+ (?: \.\d+ ){3} \b                           # an address
    | \b \d+ (?: st|nd|rd|th ) \b
    | \b \d[\d.,]* \s* (?: % | (?: ms|s|sec|seconds?|min|minutes?|h|hours?|days?|[kmg]b|times|tests?|errors?|warnings?
        |rows?|failures?|files?|lines?|results? ) \b )   # 300 seconds, 3 tests
    | (?<= \bof\s ) \d+ \b | (?<= \bthan\s ) \d+ \b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Numbers that differ each time something happens, and so do not tell two questions apart."""

_TOKEN: Final = re.compile(r"/?[\w#@]++(?:[./:#@-]++\w++)*+(?:\(\))?")
_NAME: Final = re.compile(r"[_/#@]|\w\.\w|\(\)|\d|[a-z][A-Z]")
"""What makes a token a name: a file, an identifier, a route, a version."""

_UNKNOWN: Final = re.compile(
    r"\b(?:do|does|is|are)\s+not\s+(?:know|say|clear|tell|(?:mention|define|specif|state)\w*)\b"
    r"|\b(?:but\s+)?not\s+which\b|\b(?:there\s+is|are)\s+none\b",
    re.IGNORECASE,
)
"""Ways to say that something is not known. Every question says so, which makes it no negation of the question."""

_NEGATION: Final = re.compile(r"\b(?:not|never|without)\b|n't\b", re.IGNORECASE)
_ALTERNATIVES: Final = re.compile(
    rf"({_TOKEN.pattern}) (?:or|and) (?:in |by |into )?({_TOKEN.pattern})", re.IGNORECASE
)

_FILLERS: Final = names(
    """
    a about after again all allow allowed also am an and any are as ask asked asks at be because been before
    begin being both but by can cannot contain could decide do does done each either ever exactly expected
    find first for from get gets give given go goes good got had happen happens has have having he hold holds
    how however i if in instead into is it its just know let like look looked made make makes many may me mean
    means might must my need needed needs neither nor not of ok okay on one ones only or other our out over
    part place please point possible put question rather same say says shall should so some something still
    store stored such supposed take takes tell than that the their them then there these they thing third this
    those though through to too treat treated unclear under until up us use used uses using want wanted wants
    was way we were what when where whether which while who whose why will with within without would yes yet
    you your
    """
)
"""Words that say nothing about what is asked."""

_ENDINGS: Final = ("ations", "ation", "ings", "ing", "ies", "y", "ed", "es", "s", "ly")
_STEM: Final = 3
"""What is taken off a word, if at least so many letters are left of it."""

_SYNONYMS: Final = """
    argument parameter param
    auth authentication login
    check validate verify
    config configuration setting
    database db
    delete remove
    documentation doc
    environment env
    error exception
    folder directory
    immediate once instant
    mail email
    maximum max most
    night nightly
    null none nil
    raise throw
    variable var
    week weekly
"""
"""Words of one meaning, a group on each line."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a question consists of: its words of substance in order, the names in it, and whether it is negated."""

    words: tuple[str, ...]
    names: frozenset[str]
    negated: bool


def similar(one: str, other: str) -> bool:
    """Return whether two texts ask for the same thing."""
    return similarity(one, other) >= SIMILAR


def similarity(one: str, other: str) -> float:
    """Return how similar two questions are, from 0 to 1; the order of the two does not matter."""
    readings = (_read(one[:_LONGEST]), _read(other[:_LONGEST]))
    first, second = sorted(readings, key=lambda each: (len(each.words), each.words))
    if not first.words:  # nothing but fillers
        return float(one.split() == other.split())
    if first == second:
        return 1.0
    if not (first.names <= second.names or second.names <= first.names):
        return 0.0
    shared = _shared(first.words, second.words)
    contained = shared / len(first.words)
    of_all = shared / (len(first.words) + len(second.words) - shared)
    negation = of_all == 1.0 and first.negated != second.negated
    if negation or (contained == 1.0 and _swapped(first.words, second.words)):
        return 0.0
    enough = _PART_OF_ONE if len(first.words) == 1 else _PART
    return contained if of_all >= enough else of_all


@lru_cache(maxsize=512)
def _read(text: str) -> _Reading:
    plain = _INCIDENTAL.sub(" ", _UNKNOWN.sub(" ", text))
    names, words = set[str](), list[str]()
    for token in _TOKEN.findall(_ALTERNATIVES.sub(_in_order, plain)):
        folded = token.casefold()
        if _NAME.search(token):
            names.add(folded)
            words.append(folded)
        else:
            words += [_meaning(part) for part in folded.split("-") if part and part not in _FILLERS]
    return _Reading(tuple(dict.fromkeys(words)), frozenset(names), bool(_NEGATION.search(plain)))


def _in_order(match: re.Match[str]) -> str:
    """Return two alternatives in alphabetical order: `JSON or YAML` is `YAML or JSON`."""
    return " ".join(sorted(match.groups(), key=str.casefold))


@lru_cache(maxsize=4096)
def _meaning(word: str) -> str:
    """Return what stands for a word: its stem, or that of its first synonym."""
    return _stems_of_synonyms().get(_stem(word), _stem(word))


@lru_cache(maxsize=1)
def _stems_of_synonyms() -> dict[str, str]:
    groups = (line.split() for line in _SYNONYMS.strip().splitlines())
    return {_stem(word): _stem(group[0]) for group in groups for word in group}


def _stem(word: str) -> str:
    """Return a word without its ending. It need not be right, only the same for the forms of one word."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > _STEM else word


def _shared(few: tuple[str, ...], many: tuple[str, ...]) -> int:
    """Return how many words of the shorter question stand in the longer one, each for one."""
    left = [word for word in many if word not in few]
    other = [word for word in few if word not in many]
    found = len(few) - len(other)
    for word in other:
        same = next((each for each in left if _same_word(word, each)), None)
        if same is not None:
            left.remove(same)
            found += 1
    return found


def _same_word(one: str, other: str) -> bool:
    from rapidfuzz import fuzz  # `task why` imports this room, and compares nothing

    if _NAME.search(one) or _NAME.search(other):
        return False
    short, long = sorted((one, other), key=len)
    return (len(short) >= _PREFIX and long.startswith(short)) or fuzz.ratio(one, other) >= _SPELLING


def _swapped(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether two words changed places around others, which turns who does what to whom."""
    first = [word for word in one if word in other]
    second = [word for word in other if word in one]
    match [at for at, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]:
        case [left, right]:
            return right - left > 1
        case _:
            return False
