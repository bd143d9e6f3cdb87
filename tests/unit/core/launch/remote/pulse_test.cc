#include "core/launch/remote/pulse.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "core/launch/remote/frame_stream.h"

namespace pinwire::launch {
namespace {

constexpr int kPulseHangMs = 60'000;

/// Whether the next frame in the pipe is a whole one of this kind.
bool reads(FrameKind kind, int pipe) {
  FrameHeader header{};
  pollfd one{pipe, POLLIN, 0};
  return ::poll(&one, 1, kPulseHangMs) == 1 &&
         ::read(pipe, &header, sizeof header) == ssize_t{sizeof header} &&
         bootstrap::frame_ok(header) && header.kind == kind;
}

TEST(Pulse, SaysToEachAgentThatTheLauncherIsThere) {
  auto one = make_pipe(), other = make_pipe();
  auto pulse = Pulse::start({other->write.get(), one->write.get()}, 1);
  ASSERT_TRUE(pulse);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(reads(FrameKind::kAlive, one->read.get()));
    EXPECT_TRUE(reads(FrameKind::kAlive, other->read.get()));
  }
}

TEST(Pulse, GoesOnWhenItWasStopped) {
  auto pipe = make_pipe();
  ::fcntl(pipe->read.get(), F_SETFL, O_NONBLOCK);
  auto pulse = Pulse::start({pipe->write.get()}, 1);
  ASSERT_TRUE(pulse);
  ASSERT_TRUE(reads(FrameKind::kAlive, pipe->read.get()));
  pulse->wake_if_stopped();  // it runs: nothing to do
  siginfo_t seen{};
  ASSERT_EQ(::kill(pulse->number(), SIGSTOP), 0);
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pulse->number()), &seen, WSTOPPED | WNOWAIT), 0);
  char rest[4096];
  while (::read(pipe->read.get(), rest, sizeof rest) > 0) {
  }
  pulse->wake_if_stopped();
  EXPECT_TRUE(reads(FrameKind::kAlive, pipe->read.get()));
}

TEST(Pulse, HoldsNoOtherFileAndNoneAtItsEnd) {
  auto own = make_pipe(), foreign = make_pipe();
  std::optional<Pulse> pulse;
  {
    auto started = Pulse::start({own->write.get()}, 1);
    ASSERT_TRUE(started);
    pulse.emplace(std::move(*started));
  }
  foreign->write.reset();
  char rest[4096];
  EXPECT_TRUE(reads(FrameKind::kAlive, own->read.get()));
  EXPECT_EQ(::read(foreign->read.get(), rest, sizeof rest), 0) << "someone holds its other end";
  own->write.reset();
  pulse.reset();
  while (::read(own->read.get(), rest, sizeof rest) > 0) {
  }
  pollfd ended{own->read.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, kPulseHangMs), 1);
  EXPECT_EQ(ended.revents, POLLHUP);
}

/// The kernel keeps writes of whole frames apart.
TEST(Pulse, SpeaksBetweenTheFramesOfTheLauncher) {
  constexpr size_t kLongBytes = 1 << 20, kShortBytes = 1000, kShortMessages = 200;
  constexpr size_t kAllBytes = kLongBytes + kShortBytes * kShortMessages;
  auto in = make_pipe(), out = make_pipe();
  const int pipe = out->read.get();
  Loop loop;
  FrameStream stream(loop, std::move(in->read), std::move(out->write), "",
                     {.frame = [](auto&, auto) {}, .ended = [](auto&) {}},
                     FrameStream::Out::kShared);
  const auto header = bootstrap::frame_header(FrameKind::kGathered, kEveryRank, 4);
  stream.put(header, std::vector<std::byte>(kLongBytes));
  for (size_t i = 0; i < kShortMessages; ++i)
    stream.put(header, std::vector<std::byte>(kShortBytes));
  // After each read the pipe holds whole frames, and the next write may be another process's.
  size_t heard = 0;
  std::vector<std::byte> seen(kAllBytes);
  for (; heard < kAllBytes; loop.run_once(0)) {
    const ssize_t got = ::read(pipe, seen.data(), seen.size());
    ASSERT_GT(got, 0);
    for (size_t at = 0; at < static_cast<size_t>(got);) {
      FrameHeader next{};
      ASSERT_LE(at + sizeof next, static_cast<size_t>(got)) << "half a header";
      std::memcpy(&next, seen.data() + at, sizeof next);
      ASSERT_TRUE(bootstrap::frame_ok(next));
      at += sizeof next + next.bytes;
      heard += next.bytes;
      ASSERT_LE(at, static_cast<size_t>(got)) << "half a frame";
    }
  }
  EXPECT_EQ(heard, kAllBytes);
}

}  // namespace
}  // namespace pinwire::launch
