// The two questions that are asked of each model of lanes: whether somebody waits for ever in one
// of its cases, and whether somebody does once a point of the argument is taken away. A case has a
// name and a plan, the plan a mutant.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/models/worlds/search.h"

namespace pinwire::model {

template <typename World, typename Case>
void expect_nobody_waits(const Case& each, size_t states_max) {
  const Found found = search(World(each.plan), states_max);
  std::printf("%s: %zu states, %zu ends\n", each.name, found.states, found.ends);
  EXPECT_EQ(found.failure, "") << each.name;
  EXPECT_GT(found.ends, 0u);
}

template <typename World, typename Cases, typename Mutant>
bool somebody_waits(const Cases& cases, Mutant mutant, size_t states_max) {
  for (const auto& each : cases) {
    auto plan = each.plan;
    plan.mutant = mutant;
    const Found found = search(World(plan), states_max);
    if (found.failure.empty() || found.states > states_max) continue;
    std::printf("mutant %u: %s\n", static_cast<uint32_t>(mutant), each.name);
    return true;
  }
  return false;
}

}  // namespace pinwire::model
