#include "bench/flood/words/json_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace pinwire::flood {
namespace {

namespace fs = std::filesystem;

std::string contents_of(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

class JsonFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "flood_json_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  fs::path directory_;
};

TEST(Json, ReferencesAreMedians) {
  const References references = {
      .barriers_us = {3, 1, 2}, .line_round_trips_ns = {250}, .memcpy_bytes_per_s = {2e10}};
  const auto parsed = nlohmann::json::parse(references_json("shm", references));
  const auto expected = nlohmann::json::parse(R"([
      {"driver": "shm", "reference": "barrier", "us": 2.0},
      {"driver": "shm", "reference": "cache_line", "us": 0.25},
      {"driver": "shm", "reference": "memcpy", "bytes": 1048576, "bytes_per_s": 2e10}])");
  EXPECT_EQ(parsed, expected);
  EXPECT_EQ(nlohmann::json::parse(references_json("dpdk", {})).size(), 0u);
}

TEST(Json, RowsHaveExactlyTheAgreedKeys) {
  Figures row;
  row.test = Pattern::kFlood;
  row.operation = Operation::kAmShort;
  row.depth = 64;
  row.p50_us = 0.125;
  row.messages_per_s = 3e7;
  const auto parsed = nlohmann::ordered_json::parse(to_json("shm", {row, Figures{}}));
  ASSERT_TRUE(parsed.is_array());
  ASSERT_EQ(parsed.size(), 2u);
  const std::vector<std::string> expected = {
      "driver", "test",    "op",         "bytes",       "depth",         "p50_us",
      "p99_us", "p999_us", "msgs_per_s", "bytes_per_s", "packets_per_s", "cpu_s"};
  std::vector<std::string> keys;
  for (const auto& [key, value] : parsed[0].items()) {
    keys.push_back(key);
    const bool word = key == "driver" || key == "test" || key == "op";
    EXPECT_EQ(value.is_string(), word) << key;
    EXPECT_EQ(value.is_number(), !word) << key;
  }
  EXPECT_EQ(keys, expected);
  EXPECT_EQ(parsed[0]["driver"], "shm");
  EXPECT_EQ(parsed[0]["test"], "flood");
  EXPECT_EQ(parsed[0]["op"], "am_short");
  EXPECT_EQ(parsed[0]["bytes"], 0);
  EXPECT_EQ(parsed[0]["depth"], 64);
  EXPECT_EQ(parsed[0]["p50_us"], 0.125);
  EXPECT_EQ(parsed[0]["msgs_per_s"], 3e7);
  EXPECT_EQ(parsed[1]["op"], "put_blocking");
}

TEST(Json, NoRowsAreAnEmptyArray) {
  EXPECT_TRUE(nlohmann::json::parse(to_json("shm", {})).empty());
}

TEST_F(JsonFile, ReplacesTheOldFileWhole) {
  const fs::path path = directory_ / "out.json";
  ASSERT_TRUE(write_whole_file(path, "old and longer\n").ok());
  ASSERT_TRUE(write_whole_file(path, "new\n").ok());
  EXPECT_EQ(contents_of(path), "new\n");
  EXPECT_EQ(files(), 1u) << "no temporary file stays";
}

TEST_F(JsonFile, NoDirectoryIsASentence) {
  const auto status = write_whole_file(directory_ / "none" / "out.json", "[]\n");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.sentence().find("No such file or directory"), std::string::npos);
  EXPECT_NE(status.sentence().find("name a file in a directory that exists"), std::string::npos);
}

TEST_F(JsonFile, ADirectoryIsASentenceAndLeavesNothing) {
  const fs::path path = directory_ / "sub";
  fs::create_directory(path);
  EXPECT_FALSE(write_whole_file(path, "[]\n").ok());
  EXPECT_EQ(files(), 1u);
}

TEST(JsonFullDisk, IsASentence) {
  const auto status = write_whole_file("/dev/full", "[]\n");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.sentence().find("No space left on device"), std::string::npos);
  EXPECT_NE(status.sentence().find("free some space"), std::string::npos);
}

}  // namespace
}  // namespace pinwire::flood
