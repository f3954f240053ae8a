"""The rules by which the domain of a request is recognised: words and phrases by domain, in YAML (S2)."""

from __future__ import annotations

from typing import Final

from orchestrator.formats.text import FILE_BYTES, decoded, refused
from orchestrator.formats.workflow.nodes import Fields
from orchestrator.formats.workflow.yaml_block import parse_yaml
from orchestrator.model.composite import Domain, DomainRules
from orchestrator.model.errors import Fault

RULES_FILE: Final = "domains.yaml"


def read_domain_rules(data: bytes, name: str) -> DomainRules:
    """Return the rules of a file. A domain that it leaves out has none.

    Raises:
        BadFile: with every fault and its line.

    """
    faults = list[Fault]()
    fields = Fields(parse_yaml(decoded(data, name, FILE_BYTES), name), "", faults, list(Domain))
    rules = {domain: fields.texts(domain) for domain in Domain}
    if faults:
        raise refused(name, faults)
    return rules


def joined_rules(*files: DomainRules) -> DomainRules:
    """Return the rules of several files as one."""
    return {
        domain: tuple(dict.fromkeys(phrase for each in files for phrase in each.get(domain, ())))
        for domain in Domain
    }
