"""What mybot should do where it is clear what is right: python -m unittest, in this folder."""

import unittest

from bot import choose

from arena.bot import CLAIM, Card, View

TEN_ON_THE_TABLE = """
dealer: 1
hand 0: JS TH QH KD 9C AC
hand 1: QS AH JD QD JC
talon: 9S KH TC 9H
leader: 1
table: TS
points: 24-21
tricks: 2-2
"""


class Choices(unittest.TestCase):
    def test_a_ten_is_taken_by_the_cheapest_trump(self) -> None:
        self.assertEqual(choose(View.at(TEN_ON_THE_TABLE)), Card.parse("QH"))

    def test_66_points_are_claimed(self) -> None:
        text = TEN_ON_THE_TABLE.replace("24-21", "66-21").replace("leader: 1\ntable: TS", "leader: 0")
        text = text.replace("hand 1: QS", "hand 1: TS QS")
        self.assertEqual(choose(View.at(text)), CLAIM)


if __name__ == "__main__":
    unittest.main()
