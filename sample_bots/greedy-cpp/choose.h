// What the bot does.  main.cpp is how it is asked.
#pragma once

#include <vector>

#include "arena/sixtysix/v1/bot.pb.h"

namespace sixtysix = arena::sixtysix::v1;

// What stays the same while a match lasts.
struct Match {
  sixtysix::Rules rules;
  std::vector<int> side_of_seat;
};

// One of the decision's legal actions.
sixtysix::Action choose(const Match& match, const sixtysix::Decision& decision);
