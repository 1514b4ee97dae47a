"""Every decision gets exactly one answer, whatever the author's code does; callbacks come in order."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import pytest

from arena.bot import Action, DealResult, Match, MatchResult, Turn, View
from arena.bot.player import Player
from arena.cards import ACTIONS, CARDS, GO_ON
from arena.errors import UsageError
from arena.game.presets import PRESETS
from arena.game.rules import Rules
from arena.game.scoring import Outcome, Termination
from arena.match.rulings import Fault
from arena.sixtysix.v1 import bot_pb2 as pb
from arena.wire import codec
from tests.wire.positions import questions

FACTS = list(questions(Rules(), deals=2))


class Answered(NamedTuple):
    action: int
    error: str


def player(bot: Any, *, met: bool = True, **options: Any) -> Player:
    settings = {"name": "Anna", "version": "1", "plays": None, "decisions_at_once": 0, "waives_before_draw": False}
    made = Player(bot, **{**settings, **options})
    if met:
        assert described(made).plays
    return made


def described(made: Player, rules: Rules | None = None, name: str = "sixty-six") -> codec.BotDescription:
    return codec.describe_response(made.describe(codec.describe_request(rules or Rules(), name)))


def tell(made: Player, item: bytes) -> bytes | None:
    (event,) = codec.events(item)
    return made.take(event)


def ask(made: Player, match_id: str = "m", number: int = 0, id: int = 7) -> Answered:
    item = codec.decision(FACTS[number], match_id=match_id, id=id, deal=1, time_left_ms=900, last_took_ms=0)
    answer = tell(made, item)
    assert answer is not None
    ((came, action, error, _),) = codec.answers(answer)
    assert came == id
    return Answered(action, error)


def started(match_id: str, seat: int = 1, seed: bytes = b"s" * 32) -> bytes:
    return codec.match_started(match_id, seat, (0, 1), seed, 1000, 10_000)


def first(view: View) -> Action:
    return view.legal[0]


# -- answers -------------------------------------------------------------------------------------------------------


def test_a_function_answers_a_decision_out_of_nothing() -> None:
    made = player(first)
    for number, facts in enumerate(FACTS):
        lowest = facts.legal & -facts.legal
        assert ask(made, number=number) == (lowest.bit_length() - 1, "")


def test_a_card_is_as_good_as_the_action_that_plays_it() -> None:
    assert ask(player(lambda view: view.hand[-1])).action == FACTS[0].hand.bit_length() - 1
    assert ask(player(lambda view: int(view.plays[0]))).error == ""


def test_an_illegal_action_is_passed_on_for_the_referee_to_judge() -> None:
    assert ask(player(lambda view: GO_ON)) == (GO_ON, "")


@pytest.mark.parametrize(
    ("chosen", "shown"),
    [
        (None, "None"),
        ("AS", "'AS'"),
        (True, "True"),
        (0, "0"),
        (41, "41"),
        (-3, "-3"),
        (ACTIONS[0], "unspecified"),
        (1.5, "1.5"),
        ([CARDS[3]], "a list"),
        (Action, "the class Action"),
        ("x" * 5000, "'" + "x" * 79 + "..."),
    ],
)
def test_what_is_no_action_is_reported_in_a_sentence(chosen: object, shown: str) -> None:
    assert ask(player(lambda view: chosen)) == (0, f"choose returned {shown}; return one of view.legal")


def test_an_exception_is_reported_with_its_traceback_and_the_bot_plays_on() -> None:
    def choose(view: View) -> Action:
        if view.can(view.legal[0]) and not view.history:
            raise ValueError("no idea at all")
        return view.legal[0]

    made = player(choose)
    action, error = ask(made)
    assert action == 0
    assert error.endswith("ValueError: no idea at all")
    assert "in choose" in error and "_Seat" not in error and "bot.choose" not in error
    assert ask(made, number=4).error == ""


def test_of_a_long_traceback_the_end_is_kept() -> None:
    def choose(view: View) -> Action:
        raise ValueError("é" * 5000 + "the very end")

    error = ask(player(choose)).error
    assert 2040 <= len(error.encode()) <= 2048
    assert error.endswith("the very end")


def test_an_exception_that_cannot_even_be_printed_is_reported() -> None:
    class Rude(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def choose(view: View) -> Action:
        raise Rude

    assert "Rude" in ask(player(choose)).error


def test_text_that_is_no_unicode_is_reported_all_the_same() -> None:
    def choose(view: View) -> Action:
        raise ValueError("\udcff broken")

    assert ask(player(choose)).error.endswith("? broken")


def test_a_choose_with_the_wrong_arguments_is_reported() -> None:
    assert "TypeError" in ask(player(lambda: None)).error


def test_a_decision_that_cannot_be_read_is_reported() -> None:
    made = player(lambda view: view.plays[0])
    nonsense = pb.PlayRequest(events=[{"decision": {"match_id": "m", "id": 3, "past_actions": [999]}}])
    tell(made, started("m"))
    answer = tell(made, nonsense.SerializeToString())
    assert answer is not None
    assert "WireError" in codec.answers(answer)[0].error


def test_a_decision_before_the_handshake_is_answered_with_what_is_missing() -> None:
    assert "agreed on the rules" in ask(player(first, met=False)).error


# -- objects and classes -----------------------------------------------------------------------------------------------


class Diary:
    """A bot that writes down what happens to it."""

    made: ClassVar[list[Diary]] = []

    def __init__(self) -> None:
        self.days: list[Any] = []
        self.made.append(self)

    def match_started(self, match: Match) -> None:
        self.days.append(match)

    def choose(self, view: View) -> Action:
        self.days.append(view.match_id)
        return view.legal[-1]

    def deal_ended(self, result: DealResult) -> None:
        self.days.append(result)

    def match_ended(self, result: MatchResult) -> None:
        self.days.append(result)


OUTCOME = Outcome(Termination.CLAIM, (0, 2), (20, 66), 1)


def whole_match(made: Player, match_id: str) -> None:
    tell(made, started(match_id))
    ask(made, match_id)
    tell(
        made,
        codec.deal_ended(
            match_id, 1, OUTCOME, added=(0, 2), score=(3, 7), new_actions=b"\x08\x27", new_seats=b"\x00\x01"
        ),
    )
    tell(made, codec.match_ended(match_id, (3, 7), (2, 1)))


@pytest.fixture(autouse=True)
def _empty_diaries() -> None:
    Diary.made.clear()


def test_a_class_is_made_anew_for_every_match_and_told_in_order() -> None:
    made = player(Diary)
    assert not Diary.made
    whole_match(made, "a")
    whole_match(made, "b")
    assert len(Diary.made) == 2
    for diary, match_id in zip(Diary.made, "ab", strict=True):
        match = Match(match_id, Rules(), 1, "sixty-six", b"s" * 32, 1000, 10_000, False)
        turns = (Turn(0, ACTIONS[8]), Turn(1, ACTIONS[39]))
        assert diary.days == [
            match,
            match_id,
            DealResult(match, 1, Termination.CLAIM, 1, (0, 2), (20, 66), (3, 7), turns),
            MatchResult(match, (3, 7), (2, 1)),
        ]
        assert (diary.days[2].my_points, diary.days[3].my_rank) == (2, 1)


def test_matches_side_by_side_have_a_bot_each() -> None:
    made = player(Diary)
    tell(made, started("a", seat=0))
    tell(made, started("b", seat=1))
    ask(made, "b")
    ask(made, "a")
    ask(made, "b")
    assert [diary.days[1:] for diary in Diary.made] == [["a"], ["b", "b"]]
    assert [diary.days[0].seat for diary in Diary.made] == [0, 1]


def test_an_object_plays_all_matches() -> None:
    diary = Diary()
    made = player(diary)
    whole_match(made, "a")
    whole_match(made, "b")
    assert Diary.made == [diary]
    assert [day for day in diary.days if isinstance(day, str)] == ["a", "b"]


def test_a_match_first_heard_of_by_a_decision_is_begun_as_one_under_way() -> None:
    made = player(Diary)
    ask(made, "late")
    (diary,) = Diary.made
    assert diary.days[0] == Match("late", Rules(), FACTS[0].seat, "sixty-six", resumed=True)
    ask(made, "late")
    assert diary.days[1:] == ["late", "late"]


def test_a_match_that_goes_on_after_a_lost_connection_keeps_its_object() -> None:
    made = player(Diary)
    tell(made, started("a"))
    ask(made, "a")
    tell(made, codec.match_started("a", 1, (0, 1), b"s" * 32, 1000, 10_000, resumed=True))
    ask(made, "a")
    (diary,) = Diary.made
    assert diary.days[1:] == ["a", "a"]


def test_no_stream_at_all_is_refused() -> None:
    with pytest.raises(UsageError, match="streams=0; expected 1 or more"):
        player(first, met=False, streams=0)


def test_the_end_of_a_match_nobody_began_is_no_trouble() -> None:
    made = player(Diary)
    tell(made, codec.match_ended("never", (7, 0), (1, 2)))
    assert not Diary.made


def test_a_bot_that_fails_at_the_start_of_a_match_reports_that_at_every_decision_of_it() -> None:
    class Shy(Diary):
        def match_started(self, match: Match) -> None:
            if match.id == "bad":
                raise RuntimeError("not today")

    made = player(Shy)
    tell(made, started("bad"))
    tell(made, started("good"))
    assert ask(made, "bad").error.endswith("RuntimeError: not today")
    assert ask(made, "bad").error.endswith("RuntimeError: not today")
    assert ask(made, "good").error == ""


def test_a_failure_in_another_callback_is_logged_and_forgiven(capsys: pytest.CaptureFixture[str]) -> None:
    class Clumsy(Diary):
        def deal_ended(self, result: DealResult) -> None:
            raise RuntimeError("dropped the cards")

    made = player(Clumsy)
    whole_match(made, "a")
    assert isinstance(Diary.made[0].days[-1], MatchResult)
    assert "dropped the cards" in capsys.readouterr().err


def test_a_fault_is_written_to_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    tell(player(first), codec.fault("m", 3, Fault.LATE, "late: answered after 1.2 s\nmore", (2, 0), False))
    assert capsys.readouterr().err == (
        "fault in match m: late: answered after 1.2 s (it lost the deal, (2, 0) by side)\n"
    )


@pytest.mark.parametrize("nothing", [None, 7, "bot.py", object(), int])
def test_what_is_no_bot_is_refused_at_once(nothing: object) -> None:
    with pytest.raises(UsageError, match="choose"):
        player(nothing)


# -- the handshake -----------------------------------------------------------------------------------------------------


def test_a_bot_says_who_it_is() -> None:
    made = player(first, met=False, name="Bo", version="2.1", decisions_at_once=1, waives_before_draw=True)
    assert described(made) == codec.BotDescription(1, 0, "Bo", "2.1", True, "", True, 1)


def test_rules_that_a_bot_does_not_play_are_refused_with_the_reason() -> None:
    made = player(first, met=False, plays=("schnapsen", "pagat"))
    assert described(made, PRESETS["pagat"], "pagat").plays
    refused = described(made, PRESETS["santase"], "santase")
    assert not refused.plays
    assert refused.refusal == "this bot plays schnapsen, pagat only, not these rules (santase)"


def test_a_single_name_will_do() -> None:
    made = player(first, met=False, plays="pagat")
    assert described(made, PRESETS["pagat"], "pagat").plays
    assert not described(made).plays


def test_a_bot_may_judge_the_rules_itself() -> None:
    made = player(first, met=False, plays=lambda rules: rules.deck == 20)
    assert described(made, PRESETS["schnapsen"], "schnapsen").plays
    assert described(made).refusal == "this bot does not play these rules (sixty-six)"


def test_a_bot_that_fails_to_judge_the_rules_refuses_them() -> None:
    made = player(first, met=False, plays=lambda rules: rules.deck // 0)
    assert "ZeroDivisionError" in described(made).refusal


def test_unknown_rules_in_plays_are_refused_at_once() -> None:
    with pytest.raises(UsageError, match="sixty-six"):
        player(first, plays=("sixty-sixx",))


def test_another_major_version_is_refused() -> None:
    request = pb.DescribeRequest.FromString(codec.describe_request(Rules(), "sixty-six"))
    request.protocol_major = 2
    answer = codec.describe_response(player(first, met=False).describe(request.SerializeToString()))
    assert not answer.plays
    assert answer.refusal == "this bot speaks protocol 1, the arena speaks 2"


def test_an_option_word_that_is_not_known_is_refused_by_name() -> None:
    request = pb.DescribeRequest.FromString(codec.describe_request(Rules(), "custom"))
    request.rules.claim = "whenever"
    answer = codec.describe_response(player(first, met=False).describe(request.SerializeToString()))
    assert not answer.plays
    assert "claim is 'whenever'" in answer.refusal


def test_a_match_is_played_by_the_rules_agreed_on() -> None:
    made = player(Diary, met=False)
    described(made, PRESETS["schnapsen"], "schnapsen")
    tell(made, started("m"))
    assert Diary.made[0].days[0].rules == PRESETS["schnapsen"]
