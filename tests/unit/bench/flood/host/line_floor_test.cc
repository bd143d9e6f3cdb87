#include "bench/flood/host/line_floor.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

namespace pinwire::flood {
namespace {

TEST(LineFloor, MeasuresTwoCoresAndRestoresTheCpuSet) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one CPU only";
  auto trip = measure_line(-1, -1, 200);
  ASSERT_TRUE(trip.ok()) << trip.sentence();
  EXPECT_NE(trip->first_cpu, trip->second_cpu);
  EXPECT_GT(trip->p50_ns, 0);
  EXPECT_LE(trip->p50_ns, trip->p99_ns);
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(LineFloor, ACpuThatDoesNotExistIsASentence) {
  auto trip = measure_line(-1, CPU_SETSIZE - 1, 10);
  if (sysconf(_SC_NPROCESSORS_CONF) >= CPU_SETSIZE) GTEST_SKIP() << "it does exist";
  ASSERT_FALSE(trip.ok());
  EXPECT_NE(trip.sentence().find("taskset"), std::string::npos);
}

}  // namespace
}  // namespace pinwire::flood
