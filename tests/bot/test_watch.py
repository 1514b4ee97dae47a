"""An author is warned before time runs out, once for each bound, with the line where the code is."""

from __future__ import annotations

import re
import time

import pytest

from arena.bot import Match
from arena.bot.player import Thinking
from arena.bot.watch import MOST_WARNINGS, Watch
from arena.game.rules import Rules
from tests.bot.process import Process, decision
from tests.bot.test_player import first, player

MATCH = Match("m1", Rules(), 0, limit_ms=1000, bank_ms=10_000)


def thinking(took_ms: float, time_left_ms: int = 11_000) -> Thinking:
    return Thinking(time.perf_counter_ns() - int(took_ms * 1e6), 2, MATCH, time_left_ms)


@pytest.mark.parametrize(
    ("took_ms", "time_left_ms", "says"),
    [
        (500, 11_000, ""),
        (850, 11_000, "of 1000, then it draws on its bank (10000 ms)"),
        (9000, 11_000, "of 11000, then it is late"),
        (850, 1000, "of 1000, then it is late"),
        (450, 500, "of 500, then it is late"),
        (60_000, 0, ""),
    ],
)
def test_a_warning_comes_when_most_of_the_time_is_gone(took_ms: float, time_left_ms: int, says: str) -> None:
    bot = player(first)
    bot.thinking = thinking(took_ms, time_left_ms)
    warning = Watch(bot).warning()
    assert says in warning and bool(warning) == bool(says)
    if says:
        assert (
            warning.startswith("slow: match m1, deal 2: choose has been at work for ") and "test_watch.py:" in warning
        )


def test_each_bound_is_told_once_a_decision_and_not_for_ever() -> None:
    bot = player(first)
    watch = Watch(bot)
    assert watch.warning() == ""  # nothing is being thought about
    told = 0
    for _ in range(3 * MOST_WARNINGS):
        bot.thinking = thinking(900)
        told += bool(watch.warning()) + bool(watch.warning())
    assert told == MOST_WARNINGS
    watch, bot.thinking = Watch(bot), thinking(900)
    assert watch.warning()
    bot.thinking = bot.thinking._replace(began_ns=bot.thinking.began_ns - 9_000_000_000)
    assert "then it is late" in watch.warning()


ENDLESS = """
from arena.bot import serve

def choose(view):
    while True:
        pass

serve(choose)
"""


def test_a_process_in_an_endless_loop_says_where_it_is() -> None:
    with Process(ENDLESS) as bot:
        bot.describe()
        stream = bot.play()  # kept: a stream that nobody holds is cancelled
        stream.send(decision(1, time_left_ms=200))
        said = bot.wait_until_it_says("slow: match m, deal 1: choose has been at work for ")
        assert re.search(r"of 200, then it is late; now in choose, \S+/anna\.py:[56]\n", said), said
