"""The published schema of Kubernetes' API, to hold objects against."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator

_SCHEMA: Final = Path(__file__).parent.parent / "fixtures" / "kubernetes" / "openapi-1.32.json"
_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
_KINDS: Final = {
    "Pod": "io.k8s.api.core.v1.Pod",
    "PodTemplate": "io.k8s.api.core.v1.PodTemplate",
    "Event": "io.k8s.api.core.v1.Event",
    "SelfSubjectAccessReview": "io.k8s.api.authorization.v1.SelfSubjectAccessReview",
    "DeleteOptions": f"{_META}.DeleteOptions",
    "Status": f"{_META}.Status",
}


@functools.cache
def _validator(kind: str) -> Draft202012Validator:
    document = json.loads(_SCHEMA.read_text())
    return Draft202012Validator({"$ref": f"#/$defs/{_KINDS[kind]}", "$defs": document["$defs"]})


def faults_of(kind: str, made: Any) -> list[str]:
    """Return in what an object departs from the schema of its kind."""
    return [f"{error.json_path}: {error.message}" for error in _validator(kind).iter_errors(made)]
