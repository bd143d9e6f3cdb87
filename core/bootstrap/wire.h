// The messages between a rank and its launcher: frames, each one record of a SOCK_SEQPACKET socket
// (so that a frame sent by a signal handler cannot fall into the middle of another), or one after
// the other on the byte stream between the launcher and its agent on another host.
//
// Long messages are cut into chunks. Both sides validate all they receive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/base/result.h"
#include "driver/work.h"

namespace pinwire::bootstrap {

inline constexpr uint32_t kFrameMagic = 0x50575230;  // "PWR0"
inline constexpr uint16_t kFrameVersion = 1;
inline constexpr uint32_t kChunkBytesMax = 32 << 10;
inline constexpr uint64_t kContributionBytesMax = 64 << 20;  ///< of one rank to one all_gather
inline constexpr uint64_t kMessageBytesMax = 1 << 30;
inline constexpr Rank kRanksMax = 1 << 16;
inline constexpr Rank kEveryRank = UINT32_MAX;

enum class FrameKind : uint16_t {
  // rank -> launcher
  kHello = 1,  ///< this process takes part
  kGather,     ///< its contribution number `round`
  kLeaving,    ///< it leaves with `code`
  // launcher -> rank
  kWelcome,   ///< a Welcome, then the launcher's environment: strings ended by NUL
  kGathered,  ///< for each rank a uint64_t length and its bytes
  kRefused,   ///< a sentence; the rank cannot go on
  // launcher -> agent (and kAlive)
  kStart,   ///< a Start
  kSignal,  ///< send signal `code` to `rank`
  kInput,   ///< standard input of rank 0; empty: its end. From the agent: rank 0 took `code` bytes
            ///< of it, or -1: rank 0 reads no more
  // agent -> launcher
  kOutput,   ///< of `rank`; code 1: stdout, 2: stderr. From the launcher: nobody reads it any more
  kStarted,  ///< `rank` runs; code: its process id
  kEnded,    ///< `rank` ended; code: its wait status
  kFailed,   ///< a sentence; the host cannot go on
  kHungUp,   ///< `rank` no longer holds the other end of its socket
  kAlive,    ///< the sender is still there: sent from time to time by agent and launcher
  kTaken,    ///< from the launcher: it took `code` bytes of output of all ranks of the agent's
  kLives,  ///< from the agent: `rank` has not ended yet of the SIGKILL that the launcher asked for;
           ///< a sentence why it will not, or nothing
  kBroken,  ///< `rank` sent what a rank must not send, and is not listened to any more
};

struct FrameHeader {
  uint32_t magic;
  uint16_t version;
  FrameKind kind;
  Rank rank;
  uint32_t round;
  int32_t code;
  uint32_t bytes;   ///< of this chunk, which follows
  uint64_t offset;  ///< of this chunk in its message
  uint64_t total;   ///< of the message
};
static_assert(sizeof(FrameHeader) == 40 && std::is_trivially_copyable_v<FrameHeader>);

struct Welcome {
  uint64_t job_key;
  Rank rank;
  Rank rank_count;
};
static_assert(sizeof(Welcome) == 16 && std::is_trivially_copyable_v<Welcome>);

using Bytes = std::span<const std::byte>;

FrameHeader frame_header(FrameKind kind, Rank rank, uint32_t round = 0, int32_t code = 0);

/// Whether a header is one that we could have sent, whatever its kind.
bool frame_ok(const FrameHeader& header) noexcept;

/// The header of the chunk at `offset` of `message`.
FrameHeader chunk_header(FrameHeader message, uint64_t offset, uint64_t total,
                         uint32_t bytes_max = kChunkBytesMax);

/// One message put together from its chunks, which come in order.
class Assembly {
 public:
  enum class State { kMore, kWhole, kBad };
  State add(const FrameHeader& header, Bytes chunk, uint64_t bytes_max);
  std::vector<std::byte>& bytes() noexcept { return bytes_; }
  void clear() noexcept { bytes_.clear(), begun_ = false; }

 private:
  FrameHeader first_{};
  bool begun_ = false;
  std::vector<std::byte> bytes_;
};

/// The contributions of all ranks in one message, and back. The latter validates: exactly
/// `rank_count` of them.
std::vector<std::byte> join_contributions(std::span<const std::vector<std::byte>> contributions);
Result<std::vector<std::vector<std::byte>>> split_contributions(Bytes joined, Rank rank_count);

}  // namespace pinwire::bootstrap
