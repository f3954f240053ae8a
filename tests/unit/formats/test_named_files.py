"""Which files a success criterion names, and which of them it says to be there."""

import pytest

from orchestrator.formats.named_files import files_named, files_stated, named_among


@pytest.mark.parametrize(
    ("criterion", "stated"),
    [
        ("bye.py exists", ["bye.py"]),
        ("`bye.py` exists.", ["bye.py"]),
        ("`shop/bye.py` exists and prints bye", ["shop/bye.py"]),
        ("greet.py and bye.py exist", ["greet.py", "bye.py"]),
        ("`a.py`, `b.py` and `c.py` exist", ["a.py", "b.py", "c.py"]),
        ("There is a `docs/guide.md` that explains the whole", ["docs/guide.md"]),
        ("There is a file called notes.txt with three lines", ["notes.txt"]),
        ("A new module bye.py is created", ["bye.py"]),
        ("Create bye.py", ["bye.py"]),
        ("`.editorconfig` is present", [".editorconfig"]),
        ("Makefile exists", ["Makefile"]),
        ("old.py is removed and new.py is added", ["new.py"]),
        ("never.py and before.md exist", ["never.py", "before.md"]),
        ("bye.py exists; nothing else is changed", ["bye.py"]),
    ],
)
def test_a_sentence_that_states_a_file(criterion, stated):
    assert list(files_stated(criterion)) == stated


@pytest.mark.parametrize(
    ("criterion", "named"),
    [
        ("`bye.py` prints bye", ["bye.py"]),
        ("`python bye.py` exits 0", ["bye.py"]),
        ("`python bye.py` exists", ["bye.py"]),
        ("out.txt exists after `make`", ["out.txt"]),
        ("bye.py or bye.md exists", ["bye.py", "bye.md"]),
        ("the program creates report.html", ["report.html"]),
        ("a test checks that bye.py exists", ["bye.py"]),
        ("Add dist.tar.json to `.gitignore`", ["dist.tar.json", ".gitignore"]),
        ("a usage section exists in README.md", ["README.md"]),
        ("A key `name` is added to package.json", ["package.json"]),
        ("Es gibt eine Datei bye.py", ["bye.py"]),
    ],
)
def test_a_sentence_that_only_names_one(criterion, named):
    assert files_stated(criterion) == ()
    assert list(files_named(criterion)) == named


@pytest.mark.parametrize(
    "criterion",
    [
        "bye.py is removed",
        "`bye.py` no longer exists",
        "There is no bye.py",
        "bye.py does not exist",
        "bye.py doesn't exist",
        "bye.py was renamed",
        "the project is free of dead code, without bye.py",
        "It runs on Node.js and in Next.js",
        "All tests pass with v1.2 of the library, e.g. on example.com",
        "`/etc/hosts.txt` and `~/x.json` stay as they are, as does https://example.com/a.html",
        "`*.py` exists",
        "`../x.py` exists",
        "`requests.get` exists",
        "",
    ],
)
def test_what_names_no_file(criterion):
    assert files_named(criterion) == files_stated(criterion) == ()


def test_a_file_is_found_wherever_it_lies():
    """Who writes `greet.py` in a sentence may mean `shop/greet.py`, and `Readme.md` the one in capitals."""
    paths = ("README.md", "shop/greet.py", "shop/by.bye.py", "docs.md/one.txt")
    wanted = ("greet.py", "Readme.md", "bye.py", "docs.md", "shop/greet.py", "other/greet.py")
    assert named_among(wanted, paths) == ("greet.py", "Readme.md", "docs.md", "shop/greet.py")
