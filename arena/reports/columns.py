"""The columns of the tables, each described once: text, Markdown and CSV show the same ones.

A table is described by the names of its columns, the most important first: `rank,bot,score,points`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from arena.errors import UsageError
from arena.game.scoring import Termination
from arena.game.table import Role
from arena.reports.foreign import printable

if TYPE_CHECKING:  # the help of a command names the columns, and needs no store for that
    from arena.ratings.posterior import Verdict
    from arena.reports.model import Row
    from arena.store.values import Endgames
    from arena.tournament.standings import Encounter, Tally

Value = str | int | float | None

MARK = "†"
NOTHING = "–"
"""How a cell looks where there is nothing to say: no game was played yet."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table with a line a bot."""

    name: str
    """How it is asked for, and its heading in CSV."""
    header: str
    about: str
    value: Callable[[Row], Value]
    digits: int = 2
    """Decimal places of a value that has any."""
    signed: bool = False
    """Whether a positive number shows its sign."""
    text: bool = False
    """Whether it holds text: aligned to the left, cut where it is too long."""
    probability: bool = False
    """Whether it is shown in percent."""

    def cell(self, row: Row) -> str:
        """The value for a person: printable, of fixed places, thousands apart."""
        match self.value(row):
            case None:
                return NOTHING
            case str(text):
                return printable(text)
            case int(number):
                return f"{number:,}"
            case number if self.probability:
                return percent(number)
            case number:
                return f"{number:{'+' if self.signed else ''}z.{self.digits}f}"  # z: no -0.00


def marked(row: Row, name: str) -> str:
    """A bot's name with the mark of those that are out, which a line below the table explains."""
    return f"{name} {MARK}" if row.absence else name


def percent(probability: float) -> str:
    """`97%`; what is possible is never 0% and what is not certain never 100%."""
    return "<1%" if probability < 0.005 else ">99%" if probability >= 0.995 else f"{probability:.0%}"


def ranks(verdict: Verdict) -> str:
    """`1-3`, or `2` where only one rank is left."""
    best, worst = verdict.ranks
    return str(best) if best == worst else f"{best}-{worst}"


def _judged(value: Callable[[Verdict], Value]) -> Callable[[Row], Value]:
    """What the verdict on a row says, nothing where there is none yet."""
    return lambda row: None if row.verdict is None else value(row.verdict)


def _quantile(q: float) -> Callable[[Row], Value]:
    """Of the times of its decisions."""
    return lambda row: row.standing.times.quantile_ms(q)


def _won_lost(tally: Tally) -> str:
    return f"{tally.won}-{tally.drawn}-{tally.lost}" if tally.drawn else f"{tally.won}-{tally.lost}"


def won_drawn_lost(tally: Tally) -> str:
    """`60-30-10`: how pairs are written in every table."""
    return f"{tally.won}-{tally.drawn}-{tally.lost}"


def margin(met: Encounter) -> str:
    """`+1.24`: game points a match in an encounter, its own less the other's."""
    return f"{met.margin:+z.2f}"


COLUMNS: Sequence[Column] = (
    Column("rank", "#", "place; bots that cannot be told apart share a rank", lambda row: row.rank),
    Column("bot", "bot", "its name in this tournament", lambda row: row.participant.name, text=True),
    Column(
        "status",
        "status",
        "quarantined or excluded, where it plays no more",
        lambda row: str(row.absence.entry.change) if row.absence else None,
        text=True,
    ),
    Column("version", "version", "the bot's version", lambda row: row.participant.version or None, text=True),
    Column("author", "author", "who wrote it", lambda row: row.participant.author or None, text=True),
    Column("score", "score", "mu - 3 sigma: it is almost surely at least that strong", lambda row: row.rating.score),
    Column("mu", "mu", "strength by TrueSkill over all complete pairs; 25 is average", lambda row: row.rating.mu),
    Column("sigma", "sigma", "standard deviation of mu: how uncertain it is", lambda row: row.rating.sigma),
    Column(
        "error",
        "±95%",
        "the bar that holds its strength, relative to the field, with 95%",
        _judged(lambda verdict: verdict.error),
    ),
    Column("ranks", "ranks", "the ranks that hold its true one with 95%", _judged(ranks), text=True),
    Column("rank-best", "best", "the best of these", _judged(lambda verdict: verdict.ranks[0])),
    Column("rank-worst", "worst", "the worst of these", _judged(lambda verdict: verdict.ranks[1])),
    Column(
        "next",
        "> next",
        "how likely it is better than the next in the table",
        _judged(lambda verdict: verdict.better_than_next),
        probability=True,
    ),
    Column(
        "first",
        "first",
        "how likely it is the best of all",
        _judged(lambda verdict: verdict.first),
        probability=True,
    ),
    Column(
        "one-pass",
        "one pass",
        "with --online: score by a single pass of TrueSkill; another order of the games would give another",
        lambda row: None if row.one_pass is None else row.one_pass.score,
    ),
    Column("matches", "matches", "finished matches", lambda row: row.standing.matches.total),
    Column("won", "won", "matches won", lambda row: row.standing.matches.won),
    Column("drawn", "drawn", "matches drawn", lambda row: row.standing.matches.drawn),
    Column("lost", "lost", "matches lost", lambda row: row.standing.matches.lost),
    Column(
        "won-lost",
        "won-lost",
        "matches won and lost (won, drawn and lost where one was drawn)",
        lambda row: _won_lost(row.standing.matches),
    ),
    Column(
        "pairs",
        "pairs",
        "pairs of matches with seats swapped: won, drawn and lost",
        lambda row: won_drawn_lost(row.standing.pairs),
    ),
    Column("pairs-won", "pairs won", "pairs won", lambda row: row.standing.pairs.won),
    Column("pairs-drawn", "pairs drawn", "pairs drawn", lambda row: row.standing.pairs.drawn),
    Column("pairs-lost", "pairs lost", "pairs lost", lambda row: row.standing.pairs.lost),
    Column(
        "points",
        "points",
        "game points a match, its own less the others'",
        lambda row: row.standing.margin,
        signed=True,
    ),
    Column("points-for", "for", "game points scored", lambda row: row.standing.points_for),
    Column(
        "points-against",
        "against",
        "game points that others scored against it",
        lambda row: row.standing.points_against,
    ),
    Column("deals", "deals", "deals played", lambda row: row.standing.deals),
    Column("deals-won", "deals won", "deals won", lambda row: row.standing.deals_won),
    Column("faults", "faults", "illegal, late and failed answers", lambda row: sum(row.standing.faults.values())),
    Column(
        "fault-kinds",
        "fault kinds",
        "its faults by kind",
        lambda row: ", ".join(f"{kind} {count}" for kind, count in row.standing.faults.items()) or None,
        text=True,
    ),
    Column("median", "ms", "milliseconds a decision, median", _quantile(0.5)),
    Column("p99", "p99 ms", "milliseconds that 99 of 100 decisions stay under", _quantile(0.99)),
)
"""Of the ranking."""

_FAULT = "fault"
_ENDS = (*(str(end) for end in Termination if end is not Termination.FORFEIT), _FAULT)
"""How a deal ends; all that faults end are one."""
_MARRIAGES = ("20", "40", "60", "80", "100")


def _ended(ends: Counter[str], end: str) -> int:
    """How many deals ended so."""
    return ends.total() - sum(ends[each] for each in _ENDS) if end == _FAULT else ends[end]


def _won_lost_by(end: str) -> Column:
    def value(row: Row) -> Value:
        won, lost = _ended(row.conduct.won, end), _ended(row.conduct.lost, end)
        return f"{won}-{lost}" if won or lost else None

    return Column(f"by-{end}", end.replace("-", " "), f"deals won and lost by {end}", value)


def _counted_by(result: str, end: str) -> Column:
    return Column(
        f"{result}-by-{end}",
        f"{result} by {end.replace('-', ' ')}",
        f"deals {result} by {end}",
        lambda row: _ended(getattr(row.conduct, result), end),
    )


def _as(role: Role) -> Column:
    about = f"game points a deal as {role}, its own less the others'"
    return Column(f"as-{role}", str(role), about, lambda row: row.conduct.margin(role), signed=True)


def _endgames(value: Callable[[Endgames], Value]) -> Callable[[Row], Value]:
    """What the analysis says of a row, nothing where there is none."""
    return lambda row: None if row.endgames is None else value(row.endgames)


def _marriages(points: str) -> Column:
    about = f"marriages of {points} that it declared"
    return Column(f"marriages-{points}", f"{points}s", about, lambda row: row.conduct.marriages[points])


STATISTICS: Sequence[Column] = (
    Column("deals-in", "in deals", "deals that it took part in", lambda row: row.conduct.deals.total()),
    *map(_won_lost_by, _ENDS),
    Column("deals-drawn", "drawn", "deals in which nobody scored", lambda row: row.conduct.drawn.total()),
    *(_counted_by(result, end) for result in ("won", "lost") for end in _ENDS),
    Column("closed", "closed", "deals that it closed", lambda row: row.conduct.closed.total()),
    Column("closed-won", "won", "of these, deals that it won", lambda row: row.conduct.closed["won"]),
    Column("closed-failed", "failed", "of these, all others", lambda row: row.conduct.closed["failed"]),
    Column("claims-right", "right claims", "claims that were right", lambda row: row.conduct.claimed["right"]),
    Column("claims-wrong", "wrong", "claims that were wrong", lambda row: row.conduct.claimed["wrong"]),
    *map(_marriages, _MARRIAGES),
    *map(_as, Role),
    Column("p90", "p90 ms", "milliseconds that 9 of 10 decisions stay under", _quantile(0.9)),
    Column("slowest", "max ms", "milliseconds of its slowest decision", _quantile(1.0)),
    Column("analysed", "analysed", "deals of the sample of arena analyse", _endgames(lambda found: found.deals)),
    Column("endgames", "endgames", "of these, deals with a choice to judge", _endgames(lambda found: found.reached)),
    Column("choices", "choices", "decisions with all hands known to it", _endgames(lambda found: found.choices)),
    Column("mistakes", "mistakes", "choices that gave game points away", _endgames(lambda found: found.mistakes)),
    Column("given-away", "given away", "game points given away", _endgames(lambda found: found.given_away)),
    Column(
        "given-away-deal",
        "a deal",
        "game points given away for each deal analysed",
        _endgames(lambda found: found.given_away_a_deal),
        digits=3,
    ),
)
"""Of what each bot did."""
_BY_NAME = {column.name: column for column in (*COLUMNS, *STATISTICS)}

_IN_BLOCKS = {
    "mu": "strength by TrueSkill over all complete blocks; 25 is average",
    "won": "matches in which it came first alone",
    "drawn": "matches in which it shared the first rank",
    "lost": "matches in which others came before it",
    "pairs": "blocks of matches, one in each seating: first alone, first with others, not first",
    "pairs-won": "blocks in which it came first alone",
    "pairs-drawn": "blocks in which it shared the first rank",
    "pairs-lost": "blocks in which others came before it",
    "points": "game points a match, its own less the mean of the others'",
}
"""What columns are about where the evidence is blocks."""
TABLE_COLUMNS = "rank,bot,score,mu,sigma,error,ranks,next,first,matches,won-lost,pairs,points,faults,median,p99"
"""The columns of a table for people."""
_SEVERAL_VALUES = ("ranks", "won-lost", "pairs", "fault-kinds", *(f"by-{end}" for end in _ENDS))
_ON_DEMAND = ("one-pass",)
ENDGAME_COLUMNS = "bot,analysed,endgames,choices,mistakes,given-away,given-away-deal"
"""The columns of what arena analyse has found."""
BOT_TABLES: Mapping[str, str] = {
    "Deals won-lost": ",".join(["bot", "deals-in", *(f"by-{end}" for end in _ENDS), "deals-drawn"]),
    "Closes, claims and marriages": ",".join(
        ["bot", "closed", "closed-won", "closed-failed", "claims-right", "claims-wrong"]
        + [f"marriages-{points}" for points in _MARRIAGES]
    ),
    "Game points a deal, by role": ",".join(["bot", *(f"as-{role}" for role in Role)]),
    "Endgames with all hands known": ENDGAME_COLUMNS,
    "Time and faults": "bot,median,p90,p99,slowest,faults,fault-kinds",
}
"""The tables for people of what each bot did, by their titles."""


def _single(columns: Sequence[Column]) -> str:
    return ",".join(column.name for column in columns if column.name not in (*_SEVERAL_VALUES, *_ON_DEMAND))


CSV_COLUMNS = _single(COLUMNS)
"""The columns of a table for programs: every one that holds a single value."""
BOT_CSV_COLUMNS = f"bot,{_single(STATISTICS)}"
"""The same of what each bot did."""


def parse_columns(text: str) -> tuple[Column, ...]:
    """The columns named in `text`, separated by commas.  Raises `UsageError` for a name that is none."""
    if not text.strip():
        raise UsageError(f"no column is named: choose some of {', '.join(_BY_NAME)}, with commas between them")
    return tuple(_column(name.strip()) for name in text.split(","))


def bot_tables(rows: Sequence[Row]) -> Mapping[str, Sequence[Column]]:
    """The tables of `BOT_TABLES`, without the columns in which no row has anything, nor a table of no other."""
    tables = {
        title: [column for column in parse_columns(names) if any(column.value(row) for row in rows)]
        for title, names in BOT_TABLES.items()
    }
    return {title: columns for title, columns in tables.items() if len(columns) > 1}


def worded(columns: Sequence[Column], unit: str) -> Sequence[Column]:
    """The columns in the words of a run whose evidence is called `unit`: `pairs` or `blocks`."""
    if unit == "pairs":
        return columns
    return [
        replace(column, header=column.header.replace("pairs", unit), about=_IN_BLOCKS.get(column.name, column.about))
        for column in columns
    ]


def _column(name: str) -> Column:
    if name in _BY_NAME:
        return _BY_NAME[name]
    near = get_close_matches(name, _BY_NAME, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"unknown column {name!r}{hint} (known: {', '.join(_BY_NAME)})")
