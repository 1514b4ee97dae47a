"""What each sin of `sinner.py` is to cost: one table, for single blocks and for whole tournaments."""

from __future__ import annotations

from dataclasses import dataclass

from arena.game.presets import PRESETS
from arena.game.rules import Rules
from arena.game.scoring import Termination
from arena.match.clock import TimeControl
from arena.match.record import Status
from arena.match.rulings import Fault, Loss

PATIENT = TimeControl(limit_ms=30_000, bank_ms=0)
"""For sins that have nothing to do with time, on a machine however busy."""
BRISK = TimeControl(limit_ms=1500, bank_ms=500)
SCHNAPSEN = PRESETS["schnapsen"]
SIXTY_SIX = PRESETS["sixty-six"]
ONE_DEAL = SCHNAPSEN.with_options({"match_target": 1})
LONG = SCHNAPSEN.with_options({"match_target": 11})
"""Not lost by three deals."""


@dataclass(frozen=True, slots=True)
class Sin:
    """A sin, how it is tried, and the ruling that is right."""

    flags: str
    """What `sinner.py` is called with."""
    faults: tuple[Fault, ...] = ()
    """The kinds of fault that the sinner is charged with, that of the first one first; none: it costs nothing."""
    evidence: str = ""
    """What the evidence of the first fault says."""
    loss: Loss = Loss.DEAL
    """What the first fault loses."""
    ends: Termination | None = None
    """How a deal ends, to the sinner's loss, that no fault ended."""
    status: Status = Status.PLAYED
    """How the match ends that has the first fault."""
    rules: Rules = SCHNAPSEN
    time: TimeControl = PATIENT
    matches: int = 2
    start_s: float = 60.0
    against: str | None = None
    """What kind of sinner, if not an honest one, brings it into the position to sin."""


def _wrong(flags: str, evidence: str, rules: Rules = SCHNAPSEN, matches: int = 2, against: str | None = None) -> Sin:
    """An action that is not legal: the deal is lost, whatever it is."""
    return Sin(flags, (Fault.ILLEGAL,), evidence, rules=rules, matches=matches, against=against)


def _dead(flags: str, evidence: str) -> Sin:
    """A process that ends in its first life only, while it owes an answer."""
    return Sin(flags, (Fault.DIED,), evidence)


def _absent(flags: str, evidence: str, fault: Fault = Fault.NOT_STARTED, start_s: float = 60.0) -> Sin:
    """A bot that does not get as far as a first question."""
    return Sin(flags, (fault,), evidence, Loss.MATCH, status=Status.WALKOVER, start_s=start_s)


SINS: tuple[Sin, ...] = (
    Sin("honest"),
    # Actions that are not legal.
    _wrong("illegal", "answered 7S"),
    _wrong("unspecified", "answered unspecified"),
    _wrong("unknown-number", "answered unknown action number 9999"),
    _wrong("next-number", "answered unknown action number"),
    _wrong("negative-number", "answered unknown action number -1"),
    _wrong("largest-number", "answered unknown action number 2147483647"),
    _wrong("card-of-no-deck", "answered 7S"),
    _wrong("card-not-held", "asked for one of"),
    _wrong("card-of-the-table", "asked for one of"),
    _wrong("card-played-before", "asked for one of"),
    _wrong("card-before-the-draw 1", "asked for one of close claim go-on", SIXTY_SIX),
    _wrong("card-on-a-close 1", "asked for one of", PRESETS["pagat"], against="close-always"),
    _wrong("card-after-the-last-trick 1", "asked for one of", matches=8),
    _wrong("revoke", "asked for one of", SIXTY_SIX),
    _wrong("revoke 1", "asked for one of", PRESETS["four-handed"]),
    _wrong("revoke 2", "asked for one of", PRESETS["sessantasei-101"]),
    _wrong("revoke 4", "asked for one of", PRESETS["sessantasei-3"]),
    _wrong("card-not-held 5", "asked for one of", PRESETS["three-handed"]),
    _wrong("marriage-without-the-pair", "answered M"),
    _wrong("marriage-without-the-pair 4", "answered M", PRESETS["tausendeins"]),
    _wrong("marriage-off-lead", "answered M", matches=8),
    _wrong("marriage-before-a-trick 1", "answered M", SIXTY_SIX, matches=8),
    _wrong("marriage-twice 1", "answered M", matches=8),
    _wrong("other-card-than-declared 1", "asked for one of", matches=8),
    _wrong("exchange-without-the-card", "answered exchange"),
    _wrong("exchange-off-lead", "answered exchange"),
    _wrong("exchange-after-a-close 1", "answered exchange"),
    _wrong("exchange-on-a-close 1", "answered exchange", PRESETS["pagat"], against="close-always"),
    _wrong("close-off-lead", "answered close"),
    _wrong("close-twice 1", "answered close"),
    _wrong("close-too-late", "answered close", matches=4),
    _wrong("close-too-late 1", "answered close", PRESETS["four-handed"]),
    _wrong("go-on-unasked", "answered go-on"),
    _wrong("claim-out-of-turn", "answered claim"),
    _wrong("claim-before-a-trick 1", "answered claim"),
    Sin("claim-falsely", ends=Termination.FALSE_CLAIM),
    Sin("claim-falsely 2", ends=Termination.FALSE_CLAIM, rules=PRESETS["sessantasei-3"]),
    # Messages that are no answer.
    Sin("error", (Fault.ERROR,), "Traceback: I cannot go on"),
    Sin("error-and-action", (Fault.ERROR,), "take it or leave it"),
    Sin("rude-error", (Fault.ERROR,), "boo"),
    Sin("long-error", (Fault.ERROR,), "it began so"),
    Sin("garbage", (Fault.MALFORMED,), "it wrote last: here I am"),
    Sin("truncated", (Fault.MALFORMED,), "malformed"),
    Sin("bad-utf8", (Fault.MALFORMED,), "malformed"),
    Sin("nested", (Fault.MALFORMED,), "malformed"),
    Sin("once-huge", (Fault.FLOOD,), "it sent more at once than it may"),
    Sin("once-hundred-megabytes", (Fault.FLOOD,), "it sent more at once than it may"),
    Sin("once-bomb", (Fault.FLOOD,), "it sent more at once than it may"),
    Sin("once-flood", (Fault.FLOOD,), "over 1000 messages or answers to no open decision"),
    Sin("once-flood-in-one", (Fault.FLOOD,), "over 1000 messages or answers to no open decision"),
    # Answers that are dropped.
    Sin("empty"),
    Sin("unknown-field"),
    Sin("twice"),
    Sin("twice-otherwise"),
    Sin("foreign"),
    Sin("no-id"),
    Sin("first-again 9"),
    Sin("ahead", matches=1),  # of two, the next question may be on its way
    Sin("boast"),
    # Time.
    Sin("late", (Fault.LATE,), "it wrote last: here I am", time=BRISK, matches=1),
    Sin("late-for-another", (Fault.LATE,), "of the 2000.0 ms that were left", rules=ONE_DEAL, time=BRISK),
    Sin("silent", (Fault.LATE,), "of the 2000.0 ms that were left", time=BRISK, matches=1),
    Sin("always-silent", (Fault.LATE, Fault.HUNG), "late", time=BRISK, status=Status.FORFEIT, matches=1),
    Sin("once-heartbeat", (Fault.LATE, Fault.HUNG), "late", time=BRISK, matches=1),
    Sin("once-echo", (Fault.LATE, Fault.HUNG), "late", time=BRISK, matches=1),
    Sin("once-deaf", (Fault.LATE, Fault.HUNG), "late", time=BRISK, matches=1),
    Sin("once-freeze", (Fault.LATE, Fault.HUNG), "late", time=BRISK, matches=1),
    Sin("once-block", (Fault.LATE, Fault.HUNG), "late", time=BRISK, matches=1),
    # The stream.
    Sin("once-close", (Fault.STREAM_BROKEN,), "the bot closed the stream"),
    Sin("once-raises", (Fault.STREAM_BROKEN,), "I did not expect that"),
    Sin("once-abort", (Fault.STREAM_BROKEN,), "I do not like it here"),
    Sin("once-trailers", (Fault.FLOOD,), "it sent more at once than it may: Stream removed (received metadata size"),
    Sin("once-go-away", (Fault.STREAM_BROKEN,), "the stream broke"),
    Sin("no-play", (Fault.STREAM_BROKEN,), "unimplemented", status=Status.FORFEIT, rules=LONG),
    # The process.
    _dead("once-leave", "status 0; it wrote last: here I am\nI am leaving"),
    _dead("once-crash", "status 17; it wrote last: here I am\nsomething broke"),
    _dead("once-kill", "signal 9"),
    _dead("once-segfault", "signal 11"),
    _dead("once-kill-its-keeper", "signal 9"),
    _dead("once-think-and-crash", "status 17"),
    _dead("once-wordy-crash", "and this is why"),
    Sin("leave-at-once", (Fault.DIED,), "status 0", status=Status.FORFEIT, rules=LONG),
    # What costs nothing, since it harms nobody.
    Sin("chatter"),
    Sin("endless-line"),
    Sin("close-output"),
    Sin("hoard-files"),
    Sin("unlink-socket"),
    Sin("grandchild"),
    Sin("ignore-term"),
    Sin("hang-at-the-end"),
    Sin("newer-version"),
    Sin("slow-start 20"),
    # The start.
    _absent("not-starting", "status 3 before it answered; it wrote last: here I am\nno such model file"),
    _absent("done-at-once", "status 0 before it answered (does it call serve?)"),
    _absent("raise-at-start", "no module named torch"),
    _absent("fork-away", "status 0 before it answered"),
    _absent("slow-start 60", "did not listen at ARENA_ADDRESS within 2 s", start_s=2.0),
    _absent("silent-describe", "did not answer Describe within 2 s", start_s=2.0),
    _absent("no-socket", "did not listen at ARENA_ADDRESS within 2 s", start_s=2.0),
    _absent("no-http", "did not answer Describe within 2 s", start_s=2.0),
    _absent("other-http", "did not answer Describe within 2 s", start_s=2.0),
    _absent("hang-up", "did not answer Describe within 2 s", start_s=2.0),
    _absent("accept-only", "did not answer Describe within 2 s", start_s=2.0),
    _absent("garbage-describe", "its answer to Describe is not a message"),
    _absent("huge-describe", "Describe failed: resource_exhausted"),
    _absent("raise-at-describe", "I did not expect that"),
    _absent("abort-describe", "I do not know you"),
    _absent("refuse", "only on Sundays", Fault.REFUSED),
    _absent("refuse-without-a-word", "it gives no reason", Fault.REFUSED),
    _absent("other-version", "it speaks protocol 2.0, the arena speaks 1.0", Fault.REFUSED),
    _absent("no-version", "it speaks protocol 0.0, the arena speaks 1.0", Fault.REFUSED),
)
