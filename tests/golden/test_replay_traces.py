"""Other engines' deals agree with ours, and the checker sees whatever of them is changed."""

from __future__ import annotations

import copy
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.golden.checking import Unreadable, main, read_text
from tests.golden.replay_traces import USAGE, check

HERE = Path(__file__).parent
PARTIAL, FULL, ENDGAMES = (
    HERE / "data" / f"schnapsen_{name}.jsonl.gz" for name in ("traces", "full_traces", "endgames")
)


@pytest.mark.parametrize(
    ("path", "summary"), [(PARTIAL, "150 partial traces"), (FULL, "150 full traces"), (ENDGAMES, "100 endgames")]
)
def test_what_other_engines_recorded_comes_out_the_same(path: Path, summary: str) -> None:
    findings = check(read_text(path))
    assert findings.disagreements == ()
    assert findings.summary == summary


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in read_text(path).splitlines()]


def of_id(path: Path, number: int) -> dict[str, Any]:
    """The record of that id, or in that line where records have none."""
    return next(each for line, each in enumerate(records(path), 1) if each.get("id", line) == number)


def changed(record: dict[str, Any], where: tuple[str | int, ...], value: object) -> str:
    """The record as a line with one value replaced."""
    record = copy.deepcopy(record)
    place: Any = record
    for key in where[:-1]:
        place = place[key]
    assert place[where[-1]] != value
    place[where[-1]] = value
    return json.dumps(record)


# Deal 2 of the partial traces: seat 1 declares clubs in step 5, both hands have five cards left at the end.
# Deal 2 of the full traces: seat 0 closes in step 9 with 37 points against it.
@pytest.mark.parametrize(
    ("path", "where", "value", "says"),
    [
        (PARTIAL, ("steps", 4, 0), 0, "deal 2 (line 1), step 5: seat to act: ours 1, theirs 0"),
        (PARTIAL, ("steps", 4, 1), "AC", "step 5: ours refuses AC"),
        (PARTIAL, ("steps", 4, 2), "KC KD QC QS TS", "step 5: legal: ours KC KD QC QS TS m:C, theirs KC KD QC QS TS"),
        (PARTIAL, ("steps", 4, 3), [12, 15], "step 5: points: ours [12, 14], theirs [12, 15]"),
        (PARTIAL, ("steps", 5, 4), [0, 20], "step 6: pending: ours [0, 40], theirs [0, 20]"),
        (PARTIAL, ("steps", 4, 5), 8, "step 5: talon: ours 6, theirs 8"),
        (PARTIAL, ("steps", 4, 6), "KC KD QC QS AS", "step 5: hand: ours KC KD QC QS TS, theirs AS KC KD QC QS"),
        (PARTIAL, ("steps", 5, 7), "", "step 6: known: ours QC, theirs "),
        (PARTIAL, ("tricks", 0, 0), 1, "trick 1: trick: ours [0, 'TH', 'JD', 0, 12], theirs [1, 'TH', 'JD', 0, 12]"),
        (PARTIAL, ("tricks", 4, 1), "KH", "trick 5: trick: ours [0, 'KS', 'TS', 1, 14], theirs [0, 'KH'"),
        (PARTIAL, ("tricks", 4, 2), "AS", "trick 5: trick: "),
        (PARTIAL, ("tricks", 1, 3), 0, "trick 2: trick: ours [0, 'QH', 'AH', 1, 14], theirs [0, 'QH', 'AH', 0, 14]"),
        (PARTIAL, ("tricks", 1, 4), 13, "trick 2: trick: "),
        (PARTIAL, ("tricks",), [], "number of tricks: ours 5, theirs 0"),
        (PARTIAL, ("end", "w"), 0, "winner: ours [1], theirs [0]"),
        (PARTIAL, ("end", "gp"), 1, "game points: ours 2, theirs 1"),
        (PARTIAL, ("end", "pts"), [24, 75], "points at the end: ours [24, 74], theirs [24, 75]"),
        (PARTIAL, ("end", "pend"), [0, 20], "pending at the end: ours [0, 0], theirs [0, 20]"),
        (PARTIAL, ("end", "left"), 4, "cards left of seat 0: ours 5, theirs 4"),
        (FULL, ("steps", 7, 0), 1, "step 8: seat to act: ours 0, theirs 1"),
        (FULL, ("steps", 8, 1), "x", "deal 2 (line 1), step 9: ours refuses x"),
        (FULL, ("steps", 6, 2), "AC KC KD KS QS c", "step 7: legal: ours AC KC KD c m:KS m:QS, theirs AC KC KD K"),
        (FULL, ("steps", 7, 3), [5, 17], "step 8: points: ours [5, 37], theirs [5, 17]"),
        (FULL, ("steps", 12, 4), 0, "step 13: talon: ours 2, theirs 0"),
        (FULL, ("steps", 12, 5), "", "step 13: hand: ours AC KC KD TC, theirs "),
        (FULL, ("steps", 7, 6), "", "step 8: known: ours KS, theirs "),
        (FULL, ("steps", 13, 6), "KD", "step 14: known but not there: ours , theirs KD"),
        (FULL, ("tricks", 6, 3), 1, "trick 7: trick: ours [0, 'TD', 'TC', 0], theirs [0, 'TD', 'TC', 1]"),
        (FULL, ("end", "w"), 1, "winner: ours [0], theirs [1]"),
        (FULL, ("end", "gp"), 2, "game points: ours 1, theirs 2"),
        (FULL, ("end", "pts"), [68, 38], "points at the end: ours [68, 37], theirs [68, 38]"),
        (FULL, ("end", "closer"), None, "closer: ours 0, theirs None"),
        (FULL, ("end", "oppAtClose"), 17, "opponent's points at the close: ours 37, theirs 17"),
        (ENDGAMES, ("value",), 1, "endgame (line 1): value: ours 2, theirs 1"),
        (ENDGAMES, ("move",), "AS", "move: ours refuses AS"),
        (ENDGAMES, ("move",), "JC", "value after JC: ours "),
    ],
)
def test_a_changed_value_is_found_with_its_place(
    path: Path, where: tuple[str | int, ...], value: object, says: str
) -> None:
    disagreements = check(changed(of_id(path, 2), where, value)).disagreements
    assert any(says in disagreement for disagreement in disagreements), disagreements


@pytest.mark.parametrize("path", [PARTIAL, FULL])
def test_a_deal_that_ends_sooner_or_later_than_theirs_is_found(path: Path) -> None:
    record = of_id(path, 2)
    shorter = changed(record, ("steps",), record["steps"][:-1])
    (goes_on,) = [each for each in check(shorter).disagreements if "after the last step" in each]
    assert "ours goes on" in goes_on
    longer = changed(record, ("steps",), [*record["steps"], record["steps"][-1]])
    (over,) = check(longer).disagreements
    assert f"step {len(record['steps']) + 1}: ours is over" in over


def test_with_an_empty_talon_the_partial_engine_must_name_the_whole_other_hand() -> None:
    record = of_id(PARTIAL, 4)
    number = next(index for index, step in enumerate(record["steps"]) if step[5] == 0)
    known = record["steps"][number][7]
    assert len(known.split()) > 1
    disagreements = check(changed(record, ("steps", number, 7), known.split()[0])).disagreements
    missing = f"step {number + 1}: known (the other hand): ours {known}, theirs {known.split()[0]}"
    assert any(missing in disagreement for disagreement in disagreements)


@pytest.mark.parametrize(
    ("path", "where", "value", "says"),
    [
        (PARTIAL, ("deck", 0), "XX", "deck is .* expected a list of 20"),
        (PARTIAL, ("deck", 0), "9D", "deck is"),
        (PARTIAL, ("deck", 0), "TS", "deck does not hold each of the 20 cards once"),
        (PARTIAL, ("steps", 4, 0), 2, "steps 5, column 1, is 2, expected a seat"),
        (PARTIAL, ("steps", 4, 1), "m:X", "steps 5, column 2, is 'm:X', expected a card or an action"),
        (PARTIAL, ("steps", 4, 2), None, "steps 5, column 3, is None, expected cards or actions"),
        (PARTIAL, ("steps", 4, 3), [1], "expected a list of 2, each a number from 0"),
        (PARTIAL, ("steps", 4, 5), "6", "steps 5, column 6, is '6', expected a number from 0"),
        (PARTIAL, ("steps", 4), [], "steps 5 is \\[\\], expected a list of 8"),
        (PARTIAL, ("steps",), {}, "steps is {}, expected a list"),
        (PARTIAL, ("tricks", 0), [0], "tricks 1 is \\[0\\], expected a list of 5"),
        (PARTIAL, ("end",), {}, "the record has no 'w'"),
        (FULL, ("dealer",), "0", "dealer is '0', expected a seat"),
        (FULL, ("end", "closer"), 2, "closer is 2, expected a seat .* or null"),
        (ENDGAMES, ("value",), 4, "value is 4, expected game points from -3 to 3"),
        (ENDGAMES, ("trump",), "X", "trump is 'X'"),
        (ENDGAMES, ("hands",), ["JC", "AD JD"], "this position cannot arise"),
        (ENDGAMES, ("hands",), ["JC"], "hands is"),
    ],
)
def test_a_record_of_another_shape_is_refused_with_its_line(
    path: Path, where: tuple[str | int, ...], value: object, says: str
) -> None:
    text = "\n" + changed(of_id(path, 2), where, value)
    with pytest.raises(Unreadable, match=f"line 2: .*{says}"):
        check(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1: there is no record in it"),
        ("{", "line 1: not JSON"),
        ("[1]", "line 1: not a JSON object"),
        ("{}", "line 1: the record has no 'steps'"),
        ('{"value": 1}', "line 1: the record has no 'hands'"),
        ('{"dealer": 1}', "line 1: the record has no 'steps'"),
    ],
)
def test_a_text_that_holds_no_records_is_refused(text: str, says: str) -> None:
    with pytest.raises(Unreadable, match=says):
        check(text)


def test_kinds_are_told_apart_by_content_line_by_line() -> None:
    text = "\n".join(json.dumps(of_id(path, 2)) for path in (PARTIAL, FULL, ENDGAMES))
    findings = check(text)
    assert findings.disagreements == ()
    assert findings.summary == "1 partial trace, 1 full trace, 1 endgame"


# -- as a program -----------------------------------------------------------------------------------------------------


def test_the_exit_status_is_the_worst_of_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, packed, wrong, broken = (tmp_path / name for name in ("plain", "packed.gz", "wrong", "broken.gz"))
    record = of_id(FULL, 2)
    plain.write_text(json.dumps(record))
    packed.write_bytes(gzip.compress(json.dumps(record).encode()))
    wrong.write_text(changed(record, ("end", "gp"), 3))
    broken.write_bytes(packed.read_bytes()[:-20])
    assert main(check, USAGE, [str(plain), str(packed)]) == 0
    assert f"{packed}: 1 full trace, no disagreements\n" in capsys.readouterr().out
    assert main(check, USAGE, [str(wrong), str(plain)]) == 1
    assert f"{wrong}: deal 2 (line 1): game points: ours 1, theirs 3\n" in capsys.readouterr().out
    assert main(check, USAGE, [str(broken), str(wrong)]) == 2
    assert f"{broken}: cannot be read: line 1: " in capsys.readouterr().err
    assert main(check, USAGE, [str(tmp_path / "missing")]) == 2
    assert main(check, USAGE, []) == 2


def test_it_runs_as_a_module_and_fails_as_one(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(changed(of_id(PARTIAL, 2), ("end", "gp"), 3))
    command = [sys.executable, "-m", "tests.golden.replay_traces"]
    for files, status in (([PARTIAL], 0), ([PARTIAL, wrong], 1), ([PARTIAL, wrong, tmp_path], 2)):
        done = subprocess.run([*command, *files], cwd=HERE.parents[1], capture_output=True, text=True, check=False)
        assert done.returncode == status, done
        assert f"{PARTIAL}: 150 partial traces, no disagreements\n" in done.stdout
