// Searches every state that worlds of counts can reach: values with next(), every world that is one
// step away, is_over() and text(). Every step takes something off what is left to do, so the search
// ends, and a world without a step is an end of its executions.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace pinwire::model {

struct Found {
  size_t states = 0;
  size_t ends = 0;
  std::string failure;  ///< empty: nobody waits for ever
};

template <typename World>
Found search(const World& first, size_t states_max) {
  Found found;
  std::set<World> seen{first};
  std::vector<World> open{first};
  while (!open.empty()) {
    const World here = open.back();
    open.pop_back();
    const std::vector<World> worlds = here.next();
    for (const World& there : worlds) {
      if (seen.insert(there).second) open.push_back(there);
    }
    if (worlds.empty()) ++found.ends;
    if (worlds.empty() && !here.is_over()) {
      found.failure = "nothing can be done, and work is left:" + here.text();
      break;
    }
    if (seen.size() > states_max) {
      found.failure = "more states than are allowed";
      break;
    }
  }
  found.states = seen.size();
  return found;
}

}  // namespace pinwire::model
