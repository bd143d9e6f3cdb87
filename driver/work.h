// The four plain structs that cross waist 1: Work goes down, Done, Recv come up; Region names
// pinned memory. All are trivially copyable; sizes are part of the contract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pinwire {

using Rank = uint32_t;

enum class Op : uint8_t {
  kSend,     ///< a message: `head` then `bytes` of payload from `local`, delivered whole to recv()
  kPut,      ///< `bytes` from `local` to `remote` under `remote_key`
  kPutSend,  ///< kPut, then kSend of `head` alone; the message is never seen before the data
  kGet,      ///< `bytes` from `remote` under `remote_key` into `local`
  kFetchOp,  ///< 64-bit atomic at `remote`; `head` points to AtomicOperands, old value to `local`,
             ///< or nowhere if that is nullptr
  kCompareSwap,  ///< likewise
  kScatter,      ///< puts of small pieces at once: `local` is a list of them (driver/scatter.h) of
                 ///< `bytes`, their places lie around `remote`, under `remote_key`. kWorkCopied
};

/// Requests may be held back by a busy receiver; replies and one-sided work never are, which is
/// what makes request/reply flow control free of deadlock (C1-154).
enum class MessageClass : uint8_t { kRequest, kReply };

enum WorkFlags : uint8_t {
  kWorkCopied = 1,  ///< `local` is reusable when post() returns: the driver copies or has finished.
                    ///< Puts of up to caps().copied_bytes_max only; gets never
  kWorkSilent = 2,  ///< no Done on success; failure still shows in failure(). `local` may change
                    ///< once the peer has seen the data, whoever says so (a reply, for a
                    ///< LongAsync), but is pinned: it may be read again until close()
  kWorkFenced = 4,  ///< of a kSend: it is handed out after every plain kSend of its class that the
                    ///< lane took for this peer before it. Others may overtake each other
  kWorkLent = 8,    ///< of a kSend: `local` is memory that this lane lent for it (Lent), and goes
                    ///< back to the driver when the work is taken
  /// In a kPut or kGet: `local` is memory of another device (Driver::pin_device), which no CPU
  /// touches: what moves its bytes is the driver's device alone.
  kWorkDevice = 16,
};

enum class AtomicCode : uint8_t { kAdd, kAnd, kOr, kXor, kMin, kMax, kSwap, kCompareSwap, kGet };

constexpr uint32_t atomic_bit(AtomicCode code) noexcept {
  return 1u << static_cast<uint32_t>(code);
}
inline constexpr uint32_t kAllAtomics = 2 * atomic_bit(AtomicCode::kGet) - 1;
/// Those of InfiniBand and RoCE (IBA 9.4.5).
inline constexpr uint32_t kRdmaAtomics = atomic_bit(AtomicCode::kAdd) |
                                         atomic_bit(AtomicCode::kCompareSwap) |
                                         atomic_bit(AtomicCode::kGet);

struct AtomicOperands {
  AtomicCode code;
  uint64_t operand;
  uint64_t compare;  ///< kCompareSwap only
};

/// One operation; one cache line.
struct alignas(64) Work {
  Op op;
  MessageClass cls;
  uint8_t flags;       ///< WorkFlags
  uint8_t head_bytes;  ///< <= kHeadBytesMax; a multiple of 8
  Rank peer;
  uint64_t cookie;   ///< comes back in Done
  const void* head;  ///< copied before post() returns
  void* local;       ///< payload, source or destination
  uint64_t bytes;    ///< payload bytes
  uint64_t remote;   ///< virtual address at the peer
  uint32_t remote_key;
  uint32_t local_key;  ///< region of `local`, or kNoRegion: the driver copies
  uint64_t lent;       ///< of kWorkLent: Lent::name
};
static_assert(sizeof(Work) == 64 && std::is_trivially_copyable_v<Work>);

inline constexpr uint32_t kNoRegion = 0;
/// AM header 8 + Long fields 16 + 16 arguments + padding.
inline constexpr uint32_t kHeadBytesMax = 96;

/// Memory of a driver's for the payload of one kSend: what is written there leaves from there.
struct Lent {
  std::byte* payload = nullptr;  ///< nullptr: none is free now. 16-byte aligned
  uint64_t bytes = 0;            ///< at least as many as were asked for
  uint64_t name = 0;
};

enum class WorkStatus : uint8_t {
  kOk,
  kRemoteAccess,  ///< the target refused: outside its pinned region, or a wrong key
  kUnreachable,   ///< the peer did not answer within the driver's limit
  kLocalAccess,   ///< `local` is not what `local_key` names
  kFlushed,       ///< the driver was closed with this work in flight
};

struct Done {
  uint64_t cookie;
  WorkStatus status;
};

/// A message that arrived. `data` stays valid, and its buffer the caller's, until give_back().
/// data % 16 == 8 and the first `head_bytes` of the sender come first: an 8-byte header, then a
/// body that therefore starts 16-byte aligned.
struct Recv {
  std::byte* data;
  uint32_t bytes;
  Rank peer;
  uint64_t buffer;  ///< for give_back()
  MessageClass cls;
};

struct Region {
  uint64_t base;
  uint64_t bytes;
  uint32_t local_key;
  uint32_t remote_key;  ///< what peers put in Work::remote_key
  /// Likewise for memory that is read alone, the source of a put and the remote end of a get;
  /// kNoRegion: the keys above serve that too. A device that pages on demand wants leave to write
  /// each page that it reaches by a key for writing, and a string constant's gives none.
  uint32_t local_read_key = kNoRegion;
  uint32_t remote_read_key = kNoRegion;

  uint32_t key_of_source() const noexcept {
    return local_read_key != kNoRegion ? local_read_key : local_key;
  }
  uint32_t key_to_get() const noexcept {
    return remote_read_key != kNoRegion ? remote_read_key : remote_key;
  }
};

}  // namespace pinwire
