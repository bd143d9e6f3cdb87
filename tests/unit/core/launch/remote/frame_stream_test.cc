#include "core/launch/remote/frame_stream.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

namespace pinwire::launch {
namespace {

struct Side {
  std::vector<std::pair<FrameHeader, std::vector<std::byte>>> frames;
  std::string ended;
  int heard = 0;
  FrameStream::Events events() {
    return {.frame =
                [this](const FrameHeader& header, Bytes chunk) {
                  frames.emplace_back(header, std::vector(chunk.begin(), chunk.end()));
                },
            .heard = [this] { ++heard; },
            .ended = [this](const std::string& why) { ended = why; }};
  }
};

/// The frames that come out at the other end when `raw` goes in, byte for byte.
Side hear(const std::string& raw, std::string_view greeting) {
  auto in = make_pipe(), out = make_pipe();
  Loop loop;
  Side side;
  FrameStream stream(loop, std::move(in->read), std::move(out->write), greeting, side.events());
  for (const char letter : raw) {
    EXPECT_EQ(::write(in->write.get(), &letter, 1), 1);
    loop.run_once(0);
  }
  in->write.reset();
  for (int i = 0; i < 3; ++i) loop.run_once(0);
  return side;
}

std::string frame(const std::string& text) {
  const auto header =
      bootstrap::chunk_header(bootstrap::frame_header(FrameKind::kOutput, 3, 0, 1), 0, text.size());
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + text;
}

TEST(FrameStream, FramesArriveHoweverTheyAreCut) {
  const auto side = hear(frame("first") + frame("") + frame("third"), "");
  ASSERT_EQ(side.frames.size(), 3U);
  EXPECT_EQ(side.frames[0].first.rank, 3U);
  EXPECT_EQ(side.frames[2].second.size(), 5U);
  EXPECT_EQ(side.ended, "the connection ended");
}

TEST(FrameStream, NoiseBeforeTheGreetingIsSkipped) {
  const auto side =
      hear("Welcome!\nPINWIRE-AGENT\n" + std::string(kAgentGreeting) + frame("x"), kAgentGreeting);
  EXPECT_EQ(side.frames.size(), 1U);
}

/// A slow connection carries one frame for longer than any silence may last.
TEST(FrameStream, APartOfAFrameIsHeard) {
  const auto part = frame("late").substr(0, 20);
  const auto side = hear(part, "");
  EXPECT_EQ(side.frames.size(), 0U);
  EXPECT_EQ(side.heard, 20);
}

TEST(FrameStream, AMalformedFrameEndsIt) {
  const auto side = hear(frame("good") + std::string(60, 'x') + frame("late"), "");
  EXPECT_EQ(side.frames.size(), 1U);
  EXPECT_EQ(side.ended, "it sent a malformed frame");
}

TEST(FrameStream, LongMessagesAreCutAndComeWhole) {
  auto there = make_pipe(), back = make_pipe(), unused = make_pipe();
  Loop loop;
  Side side;
  FrameStream sender(loop, std::move(back->read), std::move(there->write), "",
                     {.frame = [](auto&, auto) {}, .heard = [] {}, .ended = [](auto&) {}});
  FrameStream receiver(loop, std::move(there->read), std::move(unused->write), "", side.events());
  std::vector<std::byte> message(1'000'000);
  for (size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i * 13 & 255);
  sender.put(bootstrap::frame_header(FrameKind::kGathered, kEveryRank, 4), message);
  bootstrap::Assembly assembly;
  auto state = bootstrap::Assembly::State::kMore;
  for (size_t taken = 0, turn = 0; state == bootstrap::Assembly::State::kMore && turn < 100000;
       ++turn) {
    loop.run_once(0);
    for (; taken < side.frames.size(); ++taken)
      state = assembly.add(side.frames[taken].first, side.frames[taken].second,
                           bootstrap::kMessageBytesMax);
  }
  EXPECT_EQ(state, bootstrap::Assembly::State::kWhole);
  EXPECT_EQ(assembly.bytes(), message);
}

}  // namespace
}  // namespace pinwire::launch
