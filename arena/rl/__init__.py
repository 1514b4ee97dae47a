"""Learning to play: the rules engine as arrays and as environments (the extra `rl`)."""
