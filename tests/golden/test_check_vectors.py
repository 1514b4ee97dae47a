"""The worked vectors hold, and their checker sees a planted disagreement and a file that is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.check_vectors import USAGE, check
from tests.golden.checking import Unreadable, main

HERE = Path(__file__).parent
VECTORS = HERE / "data" / "deals.txt"

BLOCK = """\
V90 The follower claims
  L: AH KC   D: TH QD
  talon: (empty)   trump: H   on lead: L
  won L: AS-QS AD-TD AC-QC KS-9S JD-9D JC-9C (57)   won D: TS-JS KH-QH JH-9H KD-TC (35)
  play: L:AH D:claim
  => sixty-six: L+2 (57-35) | pagat, schnapsen: illegal
  # a remark
"""


def test_every_worked_vector_comes_out_right_under_every_preset_it_names() -> None:
    findings = check(VECTORS.read_text("utf-8"))
    assert findings.disagreements == ()
    assert findings.summary == "31 vectors, 145 outcomes"


def test_the_block_that_the_next_tests_spoil_is_right() -> None:
    assert check(BLOCK).disagreements == ()


@pytest.mark.parametrize(
    ("found", "instead", "says"),
    [
        ("L+2", "L+1", "V90 under sixty-six (line 6): after the last action: ours L+2 (57-35), theirs L+1 (57-35)"),
        ("57-35)", "57-36)", "ours L+2 (57-35), theirs L+2 (57-36)"),
        ("L+2 (57-35)", "D+1", "after the last action: ours L+2, theirs D+1"),
        ("L+2 (57-35)", "legal (57-35)", "ours L+2 (57-35), theirs legal (57-35)"),
        ("L+2 (57-35)", "draw 0", "ours L+2, theirs draw 0"),
        ("L+2 (57-35)", "illegal", "ours L+2 (57-35), theirs illegal"),
        ("schnapsen: illegal", "schnapsen: legal", "V90 under pagat (line 6), action 2 D:claim: ours illegal (cl"),
        ("D:claim", "D:QD", "action 2 D:QD: ours illegal (QD is not legal for seat 1 (TH claim)), theirs L+2 (57-35)"),
        ("(57)", "(58)", "V90 (line 1): card points of 'won L': ours 57, theirs 58"),
        ("(35)", "(34)", "V90 (line 1): card points of 'won D': ours 35, theirs 34"),
    ],
)
def test_a_planted_disagreement_is_found_with_its_place(found: str, instead: str, says: str) -> None:
    assert found in BLOCK
    disagreements = check(BLOCK.replace(found, instead, 1)).disagreements
    assert any(says in disagreement for disagreement in disagreements), disagreements


@pytest.mark.parametrize("number", range(0, 145, 9))
def test_every_outcome_of_the_file_is_really_compared(number: int) -> None:
    """Another outcome in its place disagrees, wherever in the file it stands."""
    lines = VECTORS.read_text("utf-8").splitlines()
    seen = 0
    for index, line in enumerate(lines):
        if not line.startswith("  =>"):
            continue
        alternatives = line.removeprefix("  =>").split("|")
        for place, alternative in enumerate(alternatives):
            names, _, outcome = alternative.partition(":")
            for name in names.split(","):
                if seen == number:
                    wrong = "legal" if "illegal" in outcome else "illegal"
                    alternatives[place] = f"{name}: {wrong}"
                    lines[index] = "  =>" + "|".join(alternatives)
                    (disagreement,) = check("\n".join(lines)).disagreements
                    assert f"under {name.strip()} (line {index + 1})" in disagreement
                    return
                seen += 1
    raise AssertionError("there are fewer outcomes")


@pytest.mark.parametrize(
    ("found", "instead", "says"),
    [
        ("V90 The follower claims\n", "", "line 1: found .* expected a block's first line"),
        ("  L: AH KC   D", "  D", "line 1: V90 has no 'L'"),
        ("AH KC", "AH 1C", "line 2: L: '1C' is not a card"),
        ("AH KC", "AH KD", "line 1: V90 has KD more than once"),
        ("AH KC", "AH 7C", "line 1: V90 under sixty-six: this position cannot arise: 7C is not in the deck"),
        ("AH KC", "AH", "line 1: V90 has 23 cards in all; expected one of 20, 24, 32"),
        ("trump: H", "trump: X", "line 3: trump: 'X' is not a suit"),
        ("trump: H", "", "line 1: V90 has no 'trump'"),
        ("on lead: L", "on lead: E", "line 3: on lead: found 'E', expected L or D"),
        ("talon: (empty)", "talon: (gone)", "line 3: talon: .* is not a card"),
        ("AS-QS AD", "AS AD", "line 4: won L: 'AS' is not a trick; expected lead-reply"),
        ("AS-QS", "AS-QX", "line 4: won L: 'QX' is not a card"),
        ("(57)", "(many)", "line 4: won L: found .* expected tricks and their points"),
        ("  play: L:AH", "  play: LAH", "line 5: 'LAH' is not an action; expected as in L:TS"),
        ("D:claim", "D:shout", "line 5: 'shout' is not an action"),
        ("  play:", "  #", "line 1: V90 has no 'play:'"),
        ("  play:", "  replay:", "line 5: found .* expected 'L:'"),
        ("  =>", "  #", "line 1: V90 has no '=>'"),
        ("L+2 (57-35)", "L wins", "line 6: found .* expected presets and an outcome"),
        ("sixty-six:", "sixty-sick:", "line 6: unknown rules 'sixty-sick'"),
        ("L+2 (57-35) |", "L+2 (57-35),", "line 6: found .* expected presets and an outcome"),
        ("  talon", "  L: AS\n  talon", "line 3: 'L' was already given in line 2"),
    ],
)
def test_a_block_that_makes_no_sense_is_refused_with_its_line(found: str, instead: str, says: str) -> None:
    assert found in BLOCK
    with pytest.raises(Unreadable, match=says):
        check(BLOCK.replace(found, instead, 1))


def test_a_file_without_a_vector_is_refused() -> None:
    for text in ("", "# only remarks\n", "\n\n"):
        with pytest.raises(Unreadable, match="no vector"):
            check(text)


def test_all_the_words_of_the_format_are_played() -> None:
    text = """
# closing before the draw, taking the turn-up off lead, going on said aloud, a claim dropped after the end
V91 Closed before the draw under pagat, the nine taken off lead
  L: TS KC QC AH AS KD   D: 9C AC 9H JD TC 9D
  talon: KS QS JS 9S KH QH TH AD TD QD JC JH   trump H   on lead: L
  play: L:TS D:9C L:closeb D:oppx L:AS D:JH
  => pagat: legal (10-13)
  => sixty-six, schnapsen: illegal

V92 The same, gone on aloud
  L: TS KC QC AH AS KD   D: 9C AC 9H JD TC 9D
  talon: KS QS JS 9S KH QH TH AD TD QD JC JH   trump H   on lead: L
  play: L:TS D:9C L:go-on L:close D:go-on L:AS D:QS
  => pagat: legal (24-0)

V93 A claim after the last trick of a deal that has settled
  L: AS   D: TS
  talon: (empty)   trump H   on lead: L
  won L: AD-TD AC-QC KC-9C JC-9D QS-9S (44)   won D: AH-QH TH-JH KH-9H KS-JS KD-QD TC-JD (55)
  play: L:AS D:TS
  play: L:claim
  => sixty-six, santase: L+1 (75-55) | pagat: D+2 (65-55)

V94 Exchange, then both draw; D is on lead at the start
  D: 9H TS KC 9C 9D JS   L: AC TC AS AD TD QC
  talon: KS QS 9S TH KH QH JH KD QD JD JC AH   trump H   on lead: D
  won L: -   won D: - (0)
  play: D:exchange D:TS L:AS
  => sixty-six, vu-schnapsen: legal (21-0)

V95 Schnapsen with its own deck
  L: TS KC QC AH AS   D: JC AC TH JD TC
  talon: KS QS JS KH QH AD TD QD KD JH   trump H   on lead: L
  play: L:MC L:KC D:AC
  => schnapsen: legal (0-15) | schnapsen-sharp: illegal
"""
    findings = check(text)
    assert findings.disagreements == ()
    assert findings.summary == "5 vectors, 11 outcomes"


# -- as a program -----------------------------------------------------------------------------------------------------


def test_the_exit_status_is_the_worst_of_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, wrong, none = (tmp_path / name for name in ("good.txt", "wrong.txt", "none.txt"))
    good.write_text(BLOCK)
    wrong.write_text(BLOCK.replace("L+2", "L+1"))
    assert main(check, USAGE, [str(good)]) == 0
    assert capsys.readouterr().out == f"{good}: 1 vector, 3 outcomes, no disagreements\n"
    assert main(check, USAGE, [str(good), str(wrong)]) == 1
    assert f"{wrong}: V90 under sixty-six" in capsys.readouterr().out
    assert main(check, USAGE, [str(none), str(wrong), str(good)]) == 2
    printed = capsys.readouterr()
    assert f"{none}: cannot be read: line 1: " in printed.err
    assert f"{wrong}: 1 vector, 3 outcomes, 1 disagreement\n" in printed.out
    assert main(check, USAGE, []) == 2


def test_a_file_that_is_no_text_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for content in (b"\xff\xfe\x00", b"\x1f\x8b broken"):
        path = tmp_path / "file"
        path.write_bytes(content)
        assert main(check, USAGE, [str(path)]) == 2
        assert "cannot be read" in capsys.readouterr().err
    assert main(check, USAGE, [str(tmp_path)]) == 2


def test_it_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "tests.golden.check_vectors", str(VECTORS)]
    done = subprocess.run(command, cwd=HERE.parents[1], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{VECTORS}: 31 vectors, 145 outcomes, no disagreements\n"
