// Where ranks go, on machines that hwloc makes up: two sockets, hardware threads, NICs.
#include "core/launch/plan/placement.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <set>

namespace pinwire::launch {
namespace {

using Cpus = std::vector<int>;

/// A machine in the place of this one.
class MadeUp {
 public:
  MadeUp(const char* variable, const std::string& value) : variable_(variable) {
    ::setenv(variable, value.c_str(), 1);
  }
  ~MadeUp() { ::unsetenv(variable_); }
  MadeUp(const MadeUp&) = delete;

 private:
  const char* variable_;
};

/// In hwloc's XML: two sockets of two cores of two threads, with a NIC each, 3b (eth2) and af
/// (eth7).
class TwoSockets : public MadeUp {
 public:
  TwoSockets() : MadeUp("HWLOC_XMLFILE", std::string(TEST_DATA) + "/two_sockets.xml") {}
};

std::vector<Cpus> cpus_of(const std::vector<Placement>& placements) {
  std::vector<Cpus> list;
  for (const auto& one : placements) list.push_back(one.cpus);
  return list;
}

Machine look(const std::vector<std::string>& devices = {}) {
  auto machine = look_at_machine(devices);
  EXPECT_TRUE(machine.ok()) << machine.sentence();
  return *machine;
}

std::vector<Cpus> place(const Machine& machine, Rank ranks, uint32_t cores) {
  auto placements = place_ranks(machine, ranks, cores);
  EXPECT_TRUE(placements.ok()) << placements.sentence();
  return cpus_of(*placements);
}

TEST(Machine, CoresWithTheirThreadsAndNumaNodes) {
  const MadeUp synthetic("HWLOC_SYNTHETIC", "node:2 core:2 pu:2");
  const Machine machine = look();
  ASSERT_EQ(machine.cores.size(), 4U);
  EXPECT_EQ(machine.domain_count, 2U);
  EXPECT_EQ(machine.cores[0].cpus, (Cpus{0, 1}));
  EXPECT_EQ(machine.cores[3].cpus, (Cpus{6, 7}));
  EXPECT_EQ(machine.cores[1].domain, 0U);
  EXPECT_EQ(machine.cores[2].domain, 1U);
}

TEST(Machine, OnlyCoresOfTheAffinityMaskCount) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int last = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &before)) last = cpu;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const Machine machine = look();
  sched_setaffinity(0, sizeof before, &before);
  ASSERT_EQ(machine.cores.size(), 1U);
  EXPECT_EQ(machine.cores[0].cpus, (Cpus{last}));
}

TEST(Placement, NeighboursGetNeighbouringCores) {
  const MadeUp synthetic("HWLOC_SYNTHETIC", "node:2 core:4 pu:1");
  EXPECT_EQ(place(look(), 3, 1), (std::vector<Cpus>{{0}, {1}, {2}}));
  EXPECT_EQ(place(look(), 8, 1).back(), (Cpus{7}));
}

TEST(Placement, ARankGetsWholeCoresOfOneNumaNode) {
  const MadeUp synthetic("HWLOC_SYNTHETIC", "node:2 core:3 pu:2");
  // A third rank of two cores has no node of its own: it gets one core of each.
  EXPECT_EQ(place(look(), 3, 2), (std::vector<Cpus>{{0, 1, 2, 3}, {6, 7, 8, 9}, {4, 5, 10, 11}}));
}

TEST(Placement, HardwareThreadsWhereCoresAreTooFew) {
  const MadeUp synthetic("HWLOC_SYNTHETIC", "core:2 pu:2");
  EXPECT_EQ(place(look(), 2, 1), (std::vector<Cpus>{{0, 1}, {2, 3}}));
  EXPECT_EQ(place(look(), 3, 1), (std::vector<Cpus>{{0}, {1}, {2}}));
  EXPECT_EQ(place(look(), 2, 2), (std::vector<Cpus>{{0, 1}, {2, 3}}));
}

TEST(Placement, WhatNoRankGotIsFree) {
  const MadeUp synthetic("HWLOC_SYNTHETIC", "core:3 pu:2");
  const Machine machine = look();
  EXPECT_EQ(free_cpus(machine, *place_ranks(machine, 2, 1)), (std::vector<uint32_t>{4, 5}));
  EXPECT_EQ(free_cpus(machine, *place_ranks(machine, 5, 1)), (std::vector<uint32_t>{5}));
  EXPECT_EQ(free_cpus(machine, *place_ranks(machine, 3, 1)), std::vector<uint32_t>{});
}

TEST(Placement, TooManyRanksGetASentence) {
  const MadeUp synthetic("HWLOC_SYNTHETIC", "core:2 pu:2");
  const auto placements = place_ranks(look(), 5, 1);
  ASSERT_FALSE(placements.ok());
  EXPECT_NE(placements.sentence().find("5 ranks with 1 cores each do not fit"), std::string::npos);
}

TEST(Placement, NearTheNicOfEachRank) {
  const TwoSockets machine;
  const auto near = [](std::vector<std::string> devices, Rank ranks) {
    return place(look(std::move(devices)), ranks, 1);
  };
  EXPECT_EQ(near({"0000:3b:00.0", "0000:af:00.0"}, 4),
            (std::vector<Cpus>{{0, 1}, {4, 5}, {2, 3}, {6, 7}}));
  // All want the second socket: who comes too late goes to the first.
  EXPECT_EQ(near({"0000:af:00.0"}, 3), (std::vector<Cpus>{{4, 5}, {6, 7}, {0, 1}}));
  EXPECT_EQ(near({"eth7"}, 1), (std::vector<Cpus>{{4, 5}}));
  EXPECT_EQ(near({"0000:99:00.0"}, 1), (std::vector<Cpus>{{0, 1}})) << "no such device";
}

TEST(Placement, TheStorySaysWhatWasDoneAndWhatWasNot) {
  const TwoSockets made_up;
  auto placements = place_ranks(look({"0000:af:00.0"}), 3, 1);
  ASSERT_TRUE(placements.ok());
  EXPECT_EQ(placements.value()[0].description, "CPUs 4,5 of NUMA node 1, near 0000:af:00.0");
  EXPECT_EQ(placements.value()[2].description,
            "CPUs 0,1 of NUMA node 0: no core near 0000:af:00.0 is left");
  auto lost = place_ranks(look({"0000:99:00.0"}), 1, 1);
  EXPECT_EQ(lost.value()[0].description,
            "CPUs 0,1 of NUMA node 0: nothing is known of where 0000:99:00.0 is");
}

}  // namespace
}  // namespace pinwire::launch
