#include "core/bootstrap/wire.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/bootstrap/environment_block.h"

namespace pinwire::bootstrap {
namespace {

std::vector<std::byte> numbered(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 & 255);
  return bytes;
}

Assembly::State feed(Assembly& assembly, const std::vector<std::byte>& message, uint64_t offset) {
  const auto header = chunk_header(frame_header(FrameKind::kGather, 0, 1), offset, message.size());
  return assembly.add(header, Bytes(message).subspan(offset, header.bytes), kMessageBytesMax);
}

TEST(Wire, MessagesComeWholeFromTheirChunks) {
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{kChunkBytesMax}, size_t{kChunkBytesMax} + 1, size_t{100000}}) {
    const auto message = numbered(bytes);
    Assembly assembly;
    uint64_t offset = 0;
    auto state = feed(assembly, message, 0);
    while (state == Assembly::State::kMore)
      state = feed(assembly, message, offset += kChunkBytesMax);
    EXPECT_EQ(state, Assembly::State::kWhole) << bytes;
    EXPECT_EQ(assembly.bytes(), message);
  }
}

TEST(Wire, ChunksOutOfOrderOrOfOtherMessagesAreBad) {
  const auto message = numbered(100000);
  Assembly late;
  EXPECT_EQ(feed(late, message, kChunkBytesMax), Assembly::State::kBad);
  Assembly twice;
  EXPECT_EQ(feed(twice, message, 0), Assembly::State::kMore);
  EXPECT_EQ(feed(twice, message, 0), Assembly::State::kBad);
  Assembly mixed;
  EXPECT_EQ(feed(mixed, message, 0), Assembly::State::kMore);
  EXPECT_EQ(feed(mixed, numbered(99999), kChunkBytesMax), Assembly::State::kBad);
}

TEST(Wire, EveryFieldIsValidated) {
  const auto good = chunk_header(frame_header(FrameKind::kHello, 0), 0, 8);
  EXPECT_TRUE(frame_ok(good));
  const auto spoil = [&](auto change) {
    auto header = good;
    change(header);
    return frame_ok(header);
  };
  EXPECT_FALSE(spoil([](auto& h) { h.magic ^= 1; }));
  EXPECT_FALSE(spoil([](auto& h) { h.version++; }));
  EXPECT_FALSE(spoil([](auto& h) { h.kind = FrameKind{0}; }));
  EXPECT_FALSE(spoil([](auto& h) { h.kind = FrameKind{999}; }));
  EXPECT_FALSE(spoil([](auto& h) {
    h.bytes = kChunkBytesMax + 1;
    h.total = h.bytes;
  }));
  EXPECT_FALSE(spoil([](auto& h) { h.total = kMessageBytesMax + 1; }));
  EXPECT_FALSE(spoil([](auto& h) { h.offset = UINT64_MAX; }));
  EXPECT_FALSE(spoil([](auto& h) { h.offset = 1; }));
}

TEST(Wire, AssemblyRefusesMoreThanItsLimit) {
  const auto message = numbered(64);
  Assembly assembly;
  EXPECT_EQ(assembly.add(chunk_header(frame_header(FrameKind::kGather, 0), 0, 64), message, 63),
            Assembly::State::kBad);
}

TEST(Wire, ContributionsThereAndBack) {
  const std::vector<std::vector<std::byte>> contributions = {numbered(3), {}, numbered(1000)};
  const auto joined = join_contributions(contributions);
  auto back = split_contributions(joined, 3);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, contributions);
  EXPECT_FALSE(split_contributions(joined, 2).ok());
  EXPECT_FALSE(split_contributions(joined, 4).ok());
  EXPECT_FALSE(split_contributions(Bytes(joined).first(joined.size() - 1), 3).ok());
  auto forged = joined;
  std::memset(forged.data(), 0xff, 8);
  EXPECT_FALSE(split_contributions(forged, 3).ok());
}

TEST(EnvironmentBlock, FindsWholeNamesOnly) {
  const char* environment[] = {"PATHS=no", "PATH=/bin", "EMPTY=", "ODD", nullptr};
  const EnvironmentBlock made(environment);
  const EnvironmentBlock block(made.bytes());
  EXPECT_STREQ(block.find("PATH"), "/bin");
  EXPECT_STREQ(block.find("EMPTY"), "");
  EXPECT_EQ(block.find("PAT"), nullptr);
  EXPECT_EQ(block.find("ODD"), nullptr);
}

TEST(EnvironmentBlock, AnUnfinishedEndIsCutOff) {
  const EnvironmentBlock block(std::as_bytes(std::span("A=1\0B=2", 7)));
  EXPECT_STREQ(block.find("A"), "1");
  EXPECT_EQ(block.find("B"), nullptr);
}

}  // namespace
}  // namespace pinwire::bootstrap
