#include "core/bootstrap/launcher_client.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "core/bootstrap/environment_block.h"
#include "core/bootstrap/launcher_watch.h"
#include "core/bootstrap/wire.h"

namespace pinwire {
namespace {

using namespace bootstrap;  // NOLINT: the wire's words

constexpr const char* kLauncherGone = "the launcher (gasnetrun_pinwire) is gone: %s";

class LauncherBootstrap final : public Bootstrap {
 public:
  explicit LauncherBootstrap(int fd) : fd_(fd), owner_(::getpid()) {}
  ~LauncherBootstrap() override {
    watch_.reset();  // before its descriptor closes
    ::close(fd_);
  }
  LauncherBootstrap(const LauncherBootstrap&) = delete;
  LauncherBootstrap& operator=(const LauncherBootstrap&) = delete;

  Status join();
  const char* name() const noexcept override { return "launcher"; }
  Rank rank() const noexcept override { return welcome_.rank; }
  Rank rank_count() const noexcept override { return welcome_.rank_count; }
  uint64_t job_key() const noexcept override { return welcome_.job_key; }
  Result<std::vector<std::vector<std::byte>>> all_gather(std::span<const std::byte> mine) override;
  Status barrier() override;
  const char* job_environment(const char* name) const noexcept override {
    // The variables that the launcher made for this host and rank are not the same everywhere.
    const bool of_this_rank = std::strncmp(name, "GASNET_JOB_", 11) == 0;
    return of_this_rank ? std::getenv(name) : environment_.find(name);
  }
  void leaving(int code, AfterIt after) noexcept override;

 private:
  bool send_frame(const FrameHeader& header, Bytes chunk) noexcept;
  Status send_message(const FrameHeader& header, Bytes message);
  Result<std::vector<std::byte>> receive_message(FrameKind kind, uint32_t round);

  const int fd_;
  const pid_t owner_;  // a child that the client forks is not this rank
  uint32_t round_ = 0;
  Welcome welcome_{};
  EnvironmentBlock environment_;
  std::atomic<bool> left_{false};
  std::optional<LauncherWatch> watch_;
};

bool LauncherBootstrap::send_frame(const FrameHeader& header, Bytes chunk) noexcept {
  iovec parts[2] = {{const_cast<FrameHeader*>(&header), sizeof header},
                    {const_cast<std::byte*>(chunk.data()), chunk.size()}};
  msghdr record{};
  record.msg_iov = parts;
  record.msg_iovlen = chunk.empty() ? 1 : 2;
  ssize_t sent;
  do {
    sent = ::sendmsg(fd_, &record, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof header + chunk.size());
}

Status LauncherBootstrap::send_message(const FrameHeader& header, Bytes message) {
  uint64_t offset = 0;
  do {
    const auto chunk = chunk_header(header, offset, message.size());
    if (!send_frame(chunk, message.subspan(offset, chunk.bytes)))
      return error(kLauncherGone, std::strerror(errno));
    offset += chunk.bytes;
  } while (offset < message.size());
  return success();
}

Result<std::vector<std::byte>> LauncherBootstrap::receive_message(FrameKind kind, uint32_t round) {
  std::vector<std::byte> record(sizeof(FrameHeader) + kChunkBytesMax);
  Assembly message;
  for (;;) {
    const ssize_t got = ::recv(fd_, record.data(), record.size(), MSG_TRUNC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return error(kLauncherGone, got == 0 ? "it closed its end" : std::strerror(errno));
    FrameHeader header{};
    const auto bytes = static_cast<size_t>(got);
    if (bytes < sizeof header || bytes > record.size())
      return error("the launcher sent a record of %zu bytes: are both of the same version?", bytes);
    std::memcpy(&header, record.data(), sizeof header);
    const Bytes chunk(record.data() + sizeof header, bytes - sizeof header);
    if (frame_ok(header) && header.kind == FrameKind::kRefused)
      return error("%.*s", static_cast<int>(chunk.size()),
                   reinterpret_cast<const char*>(chunk.data()));
    if (header.kind != kind || header.round != round)
      return error(
          "the launcher sent a frame of kind %d where %d was due: are both of the same version?",
          static_cast<int>(header.kind), static_cast<int>(kind));
    switch (message.add(header, chunk, kMessageBytesMax)) {
      case Assembly::State::kMore:
        break;
      case Assembly::State::kWhole:
        return std::move(message.bytes());
      case Assembly::State::kBad:
        return error("the launcher sent a malformed frame: are both of the same version?");
    }
  }
}

Status LauncherBootstrap::join() {
  if (auto sent = send_message(frame_header(FrameKind::kHello, 0), {}); !sent) return sent;
  auto answer = receive_message(FrameKind::kWelcome, 0);
  if (!answer) return answer.error();
  if (answer->size() < sizeof welcome_) return error("the launcher's welcome is too short");
  std::memcpy(&welcome_, answer->data(), sizeof welcome_);
  if (welcome_.rank_count == 0 || welcome_.rank_count > kRanksMax ||
      welcome_.rank >= welcome_.rank_count || welcome_.job_key == 0) {
    return error("the launcher says this is rank %u of %u", welcome_.rank, welcome_.rank_count);
  }
  environment_ = EnvironmentBlock(Bytes(*answer).subspan(sizeof welcome_));
  if (LauncherWatch::is_needed()) watch_.emplace(fd_);
  return success();
}

Result<std::vector<std::vector<std::byte>>> LauncherBootstrap::all_gather(
    std::span<const std::byte> mine) {
  if (mine.size() > kContributionBytesMax) {
    return error("rank %u wants to send %zu bytes through the launcher, which takes %llu", rank(),
                 mine.size(), static_cast<unsigned long long>(kContributionBytesMax));
  }
  ++round_;
  if (auto sent = send_message(frame_header(FrameKind::kGather, rank(), round_), mine); !sent)
    return sent.error();
  auto joined = receive_message(FrameKind::kGathered, round_);
  if (!joined) return joined.error();
  return split_contributions(*joined, rank_count());
}

Status LauncherBootstrap::barrier() {
  auto all = all_gather({});
  return all ? success() : Status(all.error());
}

void LauncherBootstrap::leaving(int code, AfterIt) noexcept {
  if (::getpid() != owner_ || left_.exchange(true, std::memory_order_relaxed)) return;
  const int saved = errno;
  // Were the launcher gone, this process would be too: the kernel or the watch ends it then.
  send_frame(
      FrameHeader{kFrameMagic, kFrameVersion, FrameKind::kLeaving, welcome_.rank, 0, code, 0, 0, 0},
      {});
  errno = saved;
}

/// Whether the other end was made by the user who started this process, or by root. (The launcher
/// makes both ends before it starts the rank, and the kernel keeps its credentials.)
bool is_of_launcher(int fd) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  return peer.uid == 0 || peer.uid == ::getuid() || peer.uid == ::geteuid();
}

/// The socket, if `text` names one of the right kind.
Result<int> inherited_socket(const char* text) {
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  int type = 0;
  socklen_t length = sizeof type;
  const bool is_number = *text != '\0' && *end == '\0' && number > 2 && number < (1 << 20);
  if (!is_number ||
      ::getsockopt(static_cast<int>(number), SOL_SOCKET, SO_TYPE, &type, &length) != 0 ||
      type != SOCK_SEQPACKET) {
    return error(
        "%s=%s names no socket of a launcher: start this program with gasnetrun_pinwire, or"
        " unset the variable",
        kJobFdVariable, text);
  }
  if (!is_of_launcher(static_cast<int>(number)))
    return error("%s=%s names a socket of another user's", kJobFdVariable, text);
  return static_cast<int>(number);
}

}  // namespace

Result<std::unique_ptr<Bootstrap>> make_launcher_bootstrap(const char* fd_text) {
  auto fd = inherited_socket(fd_text);
  if (!fd) return fd.error();
  ::fcntl(*fd, F_SETFD, FD_CLOEXEC);
  auto client = std::make_unique<LauncherBootstrap>(*fd);
  if (auto joined = client->join(); !joined) return joined.error();
  return std::unique_ptr<Bootstrap>(std::move(client));
}

}  // namespace pinwire
