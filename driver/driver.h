// Waist 1: something that moves messages, puts and gets to other ranks.
//
// Control plane (open … close): may allocate, block and fail with a sentence. Called by one thread.
// Data plane (post … arm): noexcept, no allocation, no waiting, no client code. Calls for one lane
// are serialised by the caller (the engine's lane lock), but `post` of a driver with
// `concurrent_post`, and `idle`, which any thread may call at any time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "driver/work.h"

namespace pinwire {

struct Caps {
  uint32_t lanes_max = 1;
  uint64_t send_bytes_max = 0;    ///< head + payload of one kSend
  uint64_t put_bytes_max = 0;     ///< of one kPut or kGet; larger ones are split by the caller
  uint64_t inline_bytes_max = 0;  ///< payloads up to this are cheaper copied than attached
  /// Payloads up to this are cheaper copied than waited for, where the source must be reusable on
  /// return. inline_bytes_max <= eager_bytes_max <= copied_bytes_max.
  uint64_t eager_bytes_max = 0;
  /// The most payload of one kPut or kPutSend with kWorkCopied: what the driver can hold at once. A
  /// kSend is copied whole. copied_bytes_max <= put_bytes_max.
  uint64_t copied_bytes_max = 0;
  /// Payloads of Longs up to this go with the message, and the target's CPU puts them in their
  /// place: cheaper than a put and a message behind it. 0: they never do.
  uint64_t long_in_message_max = 0;
  uint64_t lent_bytes_max = 0;  ///< the most payload that lend() has memory for; 0: none at all
  /// The most that the list of one kScatter takes, which is cheaper than a put for each of its
  /// pieces. 0: the driver takes none.
  uint64_t scatter_bytes_max = 0;
  uint32_t mtu_bytes = 0;         ///< 0: not packetised
  bool hw_rdma = false;           ///< one-sided work needs no CPU at the target
  bool ordered_put_send = false;  ///< by the device; kPutSend keeps its order on every driver
  uint32_t atomic64 = 0;          ///< 64-bit atomics: an atomic_bit() for each that the device has
  bool atomics_meet_cpu = false;  ///< and each is one to the atomics of the target's CPU, too
  bool reaches_self = false;      ///< connect() takes this rank, too: work goes there by the device
  bool on_demand_paging = false;  ///< expose() makes the device follow the process's page tables
  bool exposes = false;           ///< expose() works
  bool bounded_replies =
      false;  ///< a receiver has room for one reply to each request, not for more
  bool needs_local_key = false;  ///< work of more than copied_bytes_max must name a region
  bool zero_copy_tx = false;
  bool in_place_rx = false;
  bool event_fd = false;
  /// Peers take this rank for dead if a lane goes so long without recv() while they wait for its
  /// acknowledgement. 0: recv() may be as late as it likes.
  uint64_t recv_gap_ns_max = 0;
  bool concurrent_post = false;
  bool concurrent_idle = false;  ///< idle() tells of arrivals without a poll
  /// After a recv() that did one-sided work of peers idle() is false, after an empty one true.
  bool tells_service = false;

  /// Whether memory of this key goes whole; else the driver copies up to copied_bytes_max at a
  /// time.
  constexpr bool reaches(uint32_t local_key) const noexcept {
    return !needs_local_key || local_key != kNoRegion;
  }
  bool operator==(const Caps&) const = default;
};

/// The facts that a driver is told when it opens. Pointers stay valid until close().
struct OpenInfo {
  Rank rank = 0;
  Rank rank_count = 1;
  uint32_t lanes = 1;
  uint64_t job_key = 0;         ///< random, the same on every rank of the job, secret to others
  uint32_t network_depth = 64;  ///< requests in flight per peer (GASNET_NETWORKDEPTH), >= 2
  bool concurrent = false;      ///< several threads call the library at once (GASNET_PAR)
  uint32_t owned_lanes = 0;     ///< lanes below this take requests and puts from one thread each
};

/// Why a driver can no longer serve the job; see Driver::failure.
struct Failure {
  Rank peer;
  WorkStatus status;
  char sentence[512];
};

/// Receives a driver's counters by name; names are stable, lower_snake_case, the unit last.
class StatSink {
 public:
  virtual void stat(const char* name, uint64_t value) noexcept = 0;

 protected:
  ~StatSink() = default;
};

enum class Armed : uint8_t { kArmed, kTimed, kBusy };
enum class RecvFilter : uint8_t { kAll, kRepliesOnly };

class Driver {
 public:
  virtual ~Driver() = default;

  virtual const char* name() const noexcept = 0;
  virtual Caps caps() const noexcept = 0;
  virtual Status open(const OpenInfo& info) = 0;
  /// Opaque bytes that each peer needs for connect(); valid after open().
  virtual std::vector<std::byte> address() const = 0;
  /// This rank itself only where caps().reaches_self, for one-sided work alone.
  virtual Status connect(Rank peer, std::span<const std::byte> address) = 0;
  /// Makes memory known to the device. `fd`/`fd_offset`: the file behind it, or -1. Where
  /// hw_rdma and needs_local_key say so, pin() and unpin() are also called while other threads use
  /// the lanes, by one thread at a time; elsewhere pin() alone is, and unpin() while nobody does.
  virtual Result<Region> pin(void* base, uint64_t bytes, int fd, uint64_t fd_offset) = 0;
  /// Lets peers put to and get from memory that is not pinned: by whatever means the driver has,
  /// but none that holds pages or attaches them to a device. Base 0 and ~0 bytes: all of this
  /// process's memory, what it will map later included. An access to memory that is not there may
  /// end the target, or the job. Work under its local key, if it has one, is not kWorkSilent: the
  /// memory may go away once the work is done. unpin() takes it back.
  virtual Result<Region> expose(void* base, uint64_t bytes) {
    (void)base, (void)bytes;
    return error("%s reaches pinned memory only", name());
  }
  /// Makes memory of another device known to this one, which then moves its bytes without a CPU:
  /// whole pages, which are `dmabuf` from its beginning on; the caller closes that. Work under its
  /// local key says kWorkDevice. Called as pin() is; unpin() takes it back.
  virtual Result<Region> pin_device(void* base, uint64_t bytes, int dmabuf) {
    (void)base, (void)bytes, (void)dmabuf;
    return error("%s reaches the host's memory only", name());
  }
  virtual Status unpin(const Region& region) = 0;
  /// Returns those of caps().atomic64 that the driver has on a peer's memory of that key: some ways
  /// to memory move bytes and do no more. Any thread, at any time.
  virtual uint32_t atomics_on(uint32_t remote_key) const noexcept {
    (void)remote_key;
    return kAllAtomics;
  }
  /// Flushes nothing: the caller has waited. Idempotent.
  virtual void close() = 0;

  /// Takes a prefix of `work`, which is not empty. A short count is back-pressure: poll (recv,
  /// done) and try again.
  virtual uint32_t post(uint32_t lane, std::span<const Work> work) noexcept = 0;
  /// Lends memory for the payload of one kSend to `peer` on this lane, of at most
  /// caps().lent_bytes_max; the kSend says kWorkLent, and has a head of 8 modulo 16 bytes, so that
  /// the payload stays as aligned. It is memory alone, and no place among what is sent: whoever
  /// borrowed it may compute for a second before it posts, so no ring's slot, sequence number or
  /// credit is taken for it, behind which others would wait. And a lane lends only a part of what
  /// it has: however much is out, everything else still goes. Called as post() is of silent work.
  virtual Lent lend(uint32_t lane, Rank peer, uint64_t bytes) noexcept {
    (void)lane, (void)peer, (void)bytes;
    return {};
  }
  /// Takes back what was lent and will not be posted. Called as lend() is.
  virtual void take_back(uint32_t lane, const Lent& lent) noexcept { (void)lane, (void)lent; }
  /// Every accepted Work that is not kWorkSilent yields exactly one Done, also on failure.
  virtual uint32_t done(uint32_t lane, std::span<Done> out) noexcept = 0;
  /// Drives the device (receive, acknowledge, retransmit, one-sided work of peers) and hands out
  /// messages. kRepliesOnly leaves requests where they are: for a thread that waits inside a
  /// handler.
  virtual uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept = 0;
  /// The oldest of each class first, in the order in which recv() handed them out.
  virtual void give_back(uint32_t lane, std::span<const Recv> buffers) noexcept = 0;
  /// False: recv() or done() may find something. True: nothing was there a moment ago.
  virtual bool idle(uint32_t lane) const noexcept = 0;
  /// Serialised as recv() is. True: recv() or done() has something to hand out, without another
  /// look at the device. False may mean that the driver cannot tell.
  virtual bool has_arrivals(uint32_t) const noexcept { return false; }
  /// -1 without caps().event_fd.
  virtual int event_fd(uint32_t lane) const noexcept = 0;
  /// kArmed: anything that arrives from now on makes event_fd readable. kTimed: likewise, but
  /// timers run: recv() is wanted again soon, a millisecond late at most. kBusy: poll first.
  virtual Armed arm(uint32_t lane) noexcept = 0;
  /// For who polls this lane: what arrives need not make event_fd readable, and costs its sender no
  /// wake. True: from now on it does not, whoever armed the lane, who must be told. False: it was
  /// not armed, or the driver cannot take that back. Serialised as recv() is.
  virtual bool disarm(uint32_t lane) noexcept {
    (void)lane;
    return false;
  }
  /// True when nothing that was accepted or received still needs polls (retransmission,
  /// acknowledgement): the process may end.
  virtual bool drained(uint32_t lane) const noexcept {
    (void)lane;
    return true;
  }
  /// nullptr while healthy. Once set it stays; the engine ends the job with its sentence.
  virtual const Failure* failure() const noexcept = 0;
  virtual void stats(StatSink& sink) const noexcept = 0;
};

}  // namespace pinwire
