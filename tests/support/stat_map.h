// The counters of a driver, by name.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "driver/driver.h"

namespace pinwire {

struct StatMap final : StatSink {
  std::map<std::string, uint64_t> values;
  void stat(const char* name, uint64_t value) noexcept override { values[name] = value; }
};

/// One counter; a test that names one that does not exist fails.
inline uint64_t stat_of(const Driver& driver, const std::string& name) {
  StatMap map;
  driver.stats(map);
  EXPECT_TRUE(map.values.contains(name)) << name;
  return map.values[name];
}

}  // namespace pinwire
