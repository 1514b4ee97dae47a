"""An examination as JSON: one object of a published, versioned schema (docs/check.schema.json), in ASCII."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from arena.bots.check.checks import Colour, Examination, Finding, Trouble
from arena.reports.advice import advice


def render(examination: Examination) -> str:
    """The examination as text, indented."""
    return json.dumps(_document(examination).model_dump(mode="json"), indent=2) + "\n"


def json_schema() -> dict[str, Any]:
    """The schema of the whole."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Document.model_json_schema()}


class _Object(BaseModel):
    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


# JSON knows no lone surrogates, but foreign text may hold some.
_Foreign = Annotated[str, BeforeValidator(lambda text: text.encode("utf-8", "backslashreplace").decode())]


class TroubleObject(_Object):
    """What went wrong, once."""

    asked: str
    answered: _Foreign
    rules: str
    """The preset that was played; empty where it does not matter."""
    position: str
    """A position in which a seat is asked just this, for `View.at` of the SDK; empty where it was no decision."""
    evidence: _Foreign
    """The bot's own words: an exception, the last lines that it wrote."""
    advice: str
    """What to do; empty where that is not known."""


class FindingObject(_Object):
    """What came of one check."""

    check: str
    group: str
    about: str
    """What is tried."""
    rule: str
    """Where the rule is written: a page and a heading of the docs."""
    colour: Colour
    """green: it holds; yellow: it costs nothing, but is worth knowing; red: it loses deals; grey: it was not tried."""
    text: _Foreign
    """In a line: how often it held, or why it is not green."""
    troubles: tuple[TroubleObject, ...]
    """The first few, if it is red."""


class Document(_Object):
    """An examination of a bot."""

    schema_version: Literal[1] = 1
    bot: _Foreign
    passed: bool
    """Whether nothing is red."""
    plays: tuple[str, ...]
    """The presets that it plays."""
    findings: tuple[FindingObject, ...]


def _document(examination: Examination) -> Document:
    return Document(
        bot=examination.bot,
        passed=examination.passed,
        plays=examination.plays,
        findings=tuple(map(_finding, examination.findings)),
    )


def _finding(finding: Finding) -> FindingObject:
    return FindingObject(
        check=finding.check.name,
        group=finding.check.group,
        about=finding.check.about,
        rule=finding.check.rule,
        colour=finding.colour,
        text=finding.text,
        troubles=tuple(map(_trouble, finding.troubles)),
    )


def _trouble(trouble: Trouble) -> TroubleObject:
    return TroubleObject(
        asked=trouble.asked,
        answered=trouble.answered,
        rules=trouble.rules_name,
        position=trouble.position,
        evidence=trouble.evidence,
        advice=advice(f"{trouble.answered}\n{trouble.evidence}"),
    )
