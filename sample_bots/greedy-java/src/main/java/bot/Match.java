package bot;

import arena.sixtysix.v1.Rules;
import java.util.List;

/** What stays the same while a match lasts; {@code sideOfSeat} says whose points are whose. */
record Match(Rules rules, List<Integer> sideOfSeat) {}
