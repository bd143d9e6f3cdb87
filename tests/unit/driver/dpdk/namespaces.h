// Processes in network namespaces of their own, which die with them, joined by veth pairs.
#pragma once

#include <string>

#include "tests/unit/driver/dpdk/two_processes.h"

namespace pinwire {

/// Runs `command` in a shell; "" if it succeeded.
std::string shell(const std::string& command);

/// Moves the calling process into a namespace of its own. All `parties` call it; the rank
/// `parties - 1` then gives each other rank r a veth pair: `e0` there, `e<r>` here (of two parties:
/// `e0` at both ends). A sentence that begins with "skip: " says that it cannot be had.
std::string join_namespaces(uint32_t rank, uint32_t parties, Meeting& meeting);

/// Has this namespace's kernel send on the packets that are for others.
void forward_packets();

/// A counter of this namespace: of("Icmp", "OutMsgs").
uint64_t kernel_counter(const std::string& protocol, const std::string& name);

/// The output of the processes; skips the test if one of them says so.
#define EXPECT_ALL_CONTENT(said)                                      \
  for (const std::string& words : said)                               \
    if (words.starts_with("skip: ")) GTEST_SKIP() << words.substr(6); \
  for (const std::string& words : said) EXPECT_EQ(words, "")

}  // namespace pinwire
