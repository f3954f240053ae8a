"""Imports that are unused where they stand, and taken from there by others."""

from pathlib import Path

import linter
import pytest
import taken_names
from linter import Manner

from tests.unit.tidy.conftest import write

MANNER = Manner(own_rules=False, target="py39")


def kept(folder: Path, files: dict[str, str]) -> set[str]:
    write(folder, files)
    return taken_names.files(folder, list(files), linter.findings(folder, MANNER, list(files)))


@pytest.mark.parametrize(
    "taker",
    [
        "from shop.compat import StringIO\n",
        "from .compat import StringIO as S\n",
        "from shop import compat\nprint(compat.StringIO)\n",
        "from . import compat as c\nprint(c.StringIO)\n",
        "import shop.compat\nprint(shop.compat.StringIO)\n",
        "import shop.compat as c\nprint(c.StringIO)\n",
        "from shop.compat import *\nprint(StringIO)\n",
        "def late():\n    from shop.compat import StringIO\n    return StringIO\n",
    ],
)
def test_what_another_file_takes_is_found_however_it_does(tmp_path, taker):
    files = {"shop/compat.py": "from io import StringIO\n", "shop/till.py": taker}
    assert kept(tmp_path, files) == {"shop/compat.py"}


def test_it_is_found_through_files_that_take_all(tmp_path):
    files = {
        "src/shop/one.py": "import io\n",
        "src/shop/two.py": "from shop.one import *\n",
        "src/shop/three.py": "from shop.two import *\n",
        "bin/till.py": "from shop.three import io\n",
    }
    assert kept(tmp_path, files) == {"src/shop/one.py"}


@pytest.mark.parametrize("bound", ["import os.path", "import os.path as path", "from os import path"])
def test_each_way_to_bind_a_name_counts(tmp_path, bound):
    name = "os" if bound == "import os.path" else "path"
    files = {"one.py": f"{bound}\n", "two.py": f"from one import {name}\n"}
    assert kept(tmp_path, files) == {"one.py"}


@pytest.mark.parametrize(
    "other",
    [
        "from io import StringIO\nprint(StringIO)\n",
        "from other.compat import StringIO\n",
        "import compat\nprint(compat.BytesIO)\n",
        "from shop.compat import *\n",
        "this is no Python\n",
    ],
)
def test_what_nobody_takes_is_unused(tmp_path, other):
    assert kept(tmp_path, {"shop/compat.py": "from io import StringIO\n", "till.py": other}) == set()
