"""The list of what a bot is examined for, and what came of it.  Nothing is done here: `arena.bots.check` does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from arena.game.questions import Kind
from arena.game.views import View


class Colour(StrEnum):
    """What came of a check."""

    GREEN = "green"
    """It holds."""
    YELLOW = "yellow"
    """It costs nothing, but its author may want to know."""
    RED = "red"
    """It breaks a rule, and will lose deals."""
    GREY = "grey"
    """It could not be tried."""


NOT_TRIED = "not tried"
"""The text of a grey finding that has no other reason than that something before it failed."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a bot is examined for."""

    name: str
    group: str
    about: str
    """What is tried, in a sentence."""
    rule: str
    """Where the rule is written: a page and a heading of the docs."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What went wrong, once."""

    asked: str
    answered: str
    rules_name: str = ""
    """The preset that was played; empty where it does not matter."""
    view: View | None = None
    """What the seat saw, if it was asked for a decision."""
    position: str = ""
    """A position in which a seat sees just that, as text."""
    evidence: str = ""
    """The bot's own words: an exception, the last lines that it wrote.  Foreign text."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one check."""

    check: Check
    colour: Colour
    text: str
    """In a line: how often it held, or why it is not green."""
    troubles: tuple[Trouble, ...] = ()
    """The first of them, if it is red."""


@dataclass(frozen=True, slots=True)
class Examination:
    """What came of all checks."""

    bot: str
    """Foreign text."""
    plays: tuple[str, ...]
    """The presets that it plays."""
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether none is red."""
        return all(finding.colour is not Colour.RED for finding in self.findings)


_PROTOCOL, _RULES = "docs/protocol.md", "docs/rules/README.md"
_START, _DESCRIBE, _PLAY, _DECISION, _ANSWER, _TOLD, _BATCHES, _CLOCK, _FAULTS, _VERSIONS = (
    f"{_PROTOCOL}#{heading}"
    for heading in (
        *("start", "describe", "play", "decision", "answer", "withdrawn-fault", "batches", "the-clock", "faults"),
        "versions",
    )
)
_QUESTIONS, _SHARED = f"{_RULES}#questions", f"{_RULES}#what-all-presets-share"
_SANDBOX = "docs/sandbox.md#what-a-bots-author-has-to-know"

CHECKS: tuple[Check, ...] = (
    Check("build", "handshake", "It is built, where that is needed.", _START),
    Check("start", "handshake", "It starts, and can be reached at its address in time.", _START),
    Check("describe", "handshake", "It answers Describe with a message.", _DESCRIBE),
    Check("version", "handshake", "It speaks this major version of the protocol.", _DESCRIBE),
    Check("name", "handshake", "It has a name of 1 to 64 printable characters.", _DESCRIBE),
    Check("rules", "handshake", "It plays what its bot.toml says, and says why not the rest.", _DESCRIBE),
    Check("capacity", "handshake", "It takes as many streams at once as it says.", _DESCRIBE),
    Check("next-major", "handshake", "It refuses another major version of the protocol.", _VERSIONS),
    Check("answers", "handshake", "It answers a first decision.", _ANSWER),
    Check(Kind.LEAD.value, "decisions", "It leads where it can do nothing else.", _QUESTIONS),
    Check(Kind.MARRIAGE.value, "decisions", "On lead with a marriage; it declares none that it has not.", _QUESTIONS),
    Check(Kind.DECLARED_PAIR.value, "decisions", "Having declared, it leads one of the pair.", _QUESTIONS),
    Check(Kind.EXCHANGE.value, "decisions", "On lead with an exchange; it makes none that it cannot.", _QUESTIONS),
    Check(Kind.CLOSE.value, "decisions", "On lead where it may close; it closes nowhere else.", _QUESTIONS),
    Check(Kind.CLAIM.value, "decisions", "On lead where it may claim; it claims nowhere else.", _QUESTIONS),
    Check(Kind.FREE_FOLLOW.value, "decisions", "It follows with any card of its hand.", _SHARED),
    Check(Kind.LAST_CARD.value, "decisions", "It plays its last card.", _SHARED),
    Check(Kind.FOLLOW_SUIT.value, "decisions", "In strict play it follows suit.", _SHARED),
    Check(Kind.MUST_BEAT.value, "decisions", "In strict play it beats the card led if it can.", _SHARED),
    Check(Kind.TRUMP_DUTY.value, "decisions", "In strict play, void of the suit, it trumps.", _SHARED),
    Check(Kind.BEFORE_DRAW.value, "decisions", "Asked before the draw, it goes on, closes or claims.", _QUESTIONS),
    Check(Kind.ON_CLOSE.value, "decisions", "Asked on a close, it exchanges or goes on.", _QUESTIONS),
    Check(Kind.AFTER_LAST_TRICK.value, "decisions", "Asked after the last trick, it claims or goes on.", _QUESTIONS),
    Check("matches", "matches", "It plays a match to its end under all of its rules.", _PLAY),
    Check("many-matches", "matches", "It plays 64 matches at once on one stream.", _BATCHES),
    Check("unasked-deal", "matches", "It takes a deal that ends before it was asked.", _PLAY),
    Check("long-history", "matches", "It answers at the end of a long deal.", _DECISION),
    Check("resumed", "matches", "Started anew, or connected again, it answers what is put again.", _FAULTS),
    Check("unknown-fields", "messages", "It ignores fields and events that it does not know.", _VERSIONS),
    Check("unknown-numbers", "messages", "It ignores actions and other numbers that it does not know.", _VERSIONS),
    Check("same-id", "messages", "It takes a decision a second time.", _ANSWER),
    Check("withdrawn", "messages", "It takes that a decision is withdrawn.", _TOLD),
    Check("fault", "messages", "It takes that it is told of a fault.", _TOLD),
    Check("full-message", "messages", "It takes a message of 128 events and 256 KiB.", _BATCHES),
    Check("in-time", "time", "It answers every decision before its time is over.", _CLOCK),
    Check("time-use", "time", "Its slowest decision takes less than half of the limit.", "docs/time.md"),
    Check("sigterm", "end", "It ends on SIGTERM.", _START),
    Check("stream-closed", "end", "It takes that its stream is closed, and ends.", _START),
    Check("children", "end", "It ends its own processes before it ends.", _START),
    Check("answers-once", "manners", "It answers each decision once, and nothing else.", _ANSWER),
    Check("output", "manners", "It prints nothing.", _START),
    Check("files", "manners", "It writes no file outside its folder.", _SANDBOX),
    Check("repeatable", "manners", "With the same bot_seed it does the same.", "docs/fairness.md"),
)  # fmt: skip
BY_NAME: Mapping[str, Check] = {check.name: check for check in CHECKS}
