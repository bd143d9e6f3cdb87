#include "core/launch/options/options.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/launch/options/host_list.h"
#include "core/launch/options/mpirun.h"
#include "core/launch/remote/parcel.h"

namespace pinwire::launch {
namespace {

Result<LaunchOptions> parse(std::vector<std::string> words, const Settings& settings = {}) {
  words.insert(words.begin(), "gasnetrun_pinwire");
  std::vector<char*> list;
  for (auto& word : words) list.push_back(word.data());
  return parse_options(static_cast<int>(list.size()), list.data(), settings);
}

TEST(Options, AllOfThem) {
  auto options = parse(
      {"-n", "4",     "-N",     "2",         "-c",           "3",       "-E",     "A,B",      "-v",
       "-k", "--tag", "--bind", "--no-aslr", "-spawner=ssh", "--hosts", "n0, n1", "--driver", "shm",
       "--", "prog",  "-n",     "7"});
  ASSERT_TRUE(options.ok()) << options.sentence();
  EXPECT_EQ(options->rank_count, 4U);
  EXPECT_EQ(options->host_count, 2U);
  EXPECT_EQ(options->cpus_per_rank, 3U);
  EXPECT_EQ(options->forwarded, (std::vector<std::string>{"A", "B"}));
  EXPECT_TRUE(options->verbose && options->keep_files && options->tag_lines && options->bind);
  EXPECT_TRUE(options->no_aslr);
  EXPECT_EQ(options->spawner, SpawnerChoice::kSsh);
  EXPECT_EQ(options->hosts, (std::vector<std::string>{"n0", "n1"}));
  EXPECT_EQ(options->driver, "shm");
  EXPECT_EQ(options->command, (std::vector<std::string>{"prog", "-n", "7"}));
}

TEST(Options, TheProgramsArgumentsAreItsOwn) {
  auto options = parse({"-n2", "prog", "-spawner=x", "--", "-v", "--tag"});
  ASSERT_TRUE(options.ok()) << options.sentence();
  EXPECT_EQ(options->command,
            (std::vector<std::string>{"prog", "-spawner=x", "--", "-v", "--tag"}));
  EXPECT_FALSE(options->verbose);
}

TEST(Options, RefusalsSayWhatIsExpected) {
  const struct {
    std::vector<std::string> words;
    const char* sentence;
  } wrong[] = {
      {{"-n", "0", "prog"}, "invalid -n \"0\": expected a whole number from 1 to 65536"},
      {{"-n", "2", "-c", "5k", "prog"},
       "invalid -c \"5k\": expected a whole number from 1 to 4096"},
      {{"-n", "2", "--hosts", ",", "prog"}, "invalid --hosts \",\": expected names of hosts"},
      {{"-n", "2", "-spawner=pigeon", "prog"},
       "invalid -spawner=\"pigeon\": expected one of fork, ssh, netns, mpi, auto"}};
  for (const auto& one : wrong) {
    const auto options = parse(one.words);
    ASSERT_FALSE(options.ok());
    EXPECT_TRUE(options.sentence().starts_with(one.sentence)) << options.sentence();
  }
}

TEST(Options, HostsChooseSsh) {
  EXPECT_EQ(spawner_of(*parse({"-n", "2", "prog"})), SpawnerChoice::kFork);
  EXPECT_EQ(spawner_of(*parse({"-n", "2", "--hosts", "a", "prog"})), SpawnerChoice::kSsh);
  Settings settings;
  settings.ssh_servers = "a b,c";
  auto options = parse({"-n", "2", "prog"}, settings);
  EXPECT_EQ(spawner_of(*options), SpawnerChoice::kSsh);
  EXPECT_EQ(options->hosts.size(), 3U);
  EXPECT_EQ(spawner_of(*parse({"-n", "2", "-spawner=fork", "prog"}, settings)),
            SpawnerChoice::kFork);
}

TEST(HostList, SharesAreBlocks) {
  auto options = parse({"-n", "7", "--hosts", "a,b,a,c", "prog"});
  auto shares = share_ranks(*options);
  ASSERT_TRUE(shares.ok());
  ASSERT_EQ(shares->size(), 3U);
  const Rank counts[] = {3, 2, 2}, firsts[] = {0, 3, 5};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ((*shares)[static_cast<size_t>(i)].count, counts[i]);
    EXPECT_EQ((*shares)[static_cast<size_t>(i)].first, firsts[i]);
  }
  EXPECT_EQ((*shares)[2].host, "c");
}

TEST(HostList, NoMoreHostsThanRanks) {
  EXPECT_EQ(share_ranks(*parse({"-n", "1", "--hosts", "a,b", "prog"}))->size(), 1U);
}

TEST(Mpirun, ThePatternIsFilledIn) {
  auto options = parse({"-n", "4", "prog", "a b", "100%"});
  EXPECT_EQ(mpirun_words("mpirun -np %N %C", *options),
            (std::vector<std::string>{"mpirun", "-np", "4", "prog", "a b", "100%"}));
  EXPECT_EQ(mpirun_words("srun -n%N --x=%P%% -- %P %A", *options),
            (std::vector<std::string>{"srun", "-n4", "--x=prog%", "--", "prog", "a b", "100%"}));
}

TEST(Mpirun, WhatItCannotHandOnIsRefused) {
  auto options = parse({"-n", "4", "-spawner=mpi", "--no-aslr", "prog"});
  ASSERT_TRUE(options.ok());
  EXPECT_NE(become_mpirun(*options).sentence.find("setarch -R"), std::string::npos);
}

TEST(Parcel, APlanThereAndBack) {
  const RemotePlan plan{.first = 2,
                        .count = 3,
                        .rank_count = 9,
                        .cpus_per_rank = 1,
                        .keep_files = true,
                        .no_aslr = true,
                        .has_input = false,
                        .host_name = "n1",
                        .folder = "/some where",
                        .command = {"prog", "", "a\nb"},
                        .environment = {"A=1", "B="}};
  const auto packed = pack_plan(plan);
  auto back = unpack_plan(packed);
  ASSERT_TRUE(back.ok()) << back.sentence();
  EXPECT_EQ(back->first, 2U);
  EXPECT_EQ(back->count, 3U);
  EXPECT_EQ(back->rank_count, 9U);
  EXPECT_TRUE(back->keep_files && back->no_aslr && !back->has_input);
  EXPECT_EQ(back->folder, plan.folder);
  EXPECT_EQ(back->command, plan.command);
  EXPECT_EQ(back->environment, plan.environment);
}

TEST(Parcel, EveryTruncationAndManyForgeriesAreRefusedOrHarmless) {
  const auto packed = pack_plan(
      {.first = 0, .count = 1, .rank_count = 1, .host_name = "h", .folder = "/", .command = {"p"}});
  for (size_t bytes = 0; bytes < packed.size(); ++bytes)
    EXPECT_FALSE(unpack_plan(Bytes(packed).first(bytes)).ok()) << bytes;
  for (size_t at = 0; at < packed.size(); ++at) {
    for (const int flip : {1, 0x80, 0xff}) {
      auto forged = packed;
      forged[at] ^= static_cast<std::byte>(flip);
      if (auto plan = unpack_plan(forged)) {
        EXPECT_LE(plan->first + plan->count, plan->rank_count);
        EXPECT_FALSE(plan->command.empty());
      }
    }
  }
}

}  // namespace
}  // namespace pinwire::launch
