#include "driver/checked.h"

#include <algorithm>
#include <atomic>

#include "core/base/check.h"
#include "driver/forwarding.h"
#include "driver/scatter.h"

namespace pinwire {
namespace {

/// The debts of a lane to its caller, and of its caller to the lane. Counts may be raised by
/// several threads when the driver has concurrent_post.
class LaneLedger {
 public:
  /// Signalled work of this cookie was accepted.
  void owe_done(uint64_t cookie) noexcept {
    owed_[bucket(cookie)].fetch_add(1, std::memory_order_relaxed);
  }
  void forgive_done(uint64_t cookie) noexcept {
    owed_[bucket(cookie)].fetch_sub(1, std::memory_order_relaxed);
  }
  void take_done(uint64_t cookie) noexcept {
    const uint32_t before = owed_[bucket(cookie)].fetch_sub(1, std::memory_order_relaxed);
    check(before != 0, "done: a cookie that no accepted, signalled work waits for", cookie);
  }

  void hand_out(const Recv& recv) noexcept {
    Held& held = held_[static_cast<size_t>(recv.cls)];
    check(held.end - held.begin < kHeldMax, "recv: more held than this checker remembers");
    held.data[held.end++ % kHeldMax] = recv.data;
  }
  void take_back(const Recv& recv) noexcept {
    Held& held = held_[static_cast<size_t>(recv.cls)];
    check(held.begin != held.end, "give_back: nothing of this class is held", recv.data);
    check(held.data[held.begin++ % kHeldMax] == recv.data,
          "give_back: not the oldest of its class that is held", recv.data);
  }

  /// Memory that is out. Any thread, where post() is any thread's.
  void lend(const Lent& lent) noexcept {
    for (Out& out : out_) {
      uint64_t nothing = 0;
      if (!out.payload.compare_exchange_strong(nothing, 1, std::memory_order_acquire)) continue;
      out.bytes = lent.bytes;
      out.name = lent.name;
      // release pairs with the acquire of take_lent(), in whatever thread
      out.payload.store(reinterpret_cast<uint64_t>(lent.payload), std::memory_order_release);
      return;
    }
    check(false, "lend: more is out than this checker remembers");
  }
  /// A payload nullptr: it is not out, or by another name.
  Lent take_lent(const void* payload, uint64_t name) noexcept {
    const auto wanted = reinterpret_cast<uint64_t>(payload);
    for (Out& out : out_) {
      if (out.payload.load(std::memory_order_acquire) != wanted) continue;
      const Lent lent{static_cast<std::byte*>(const_cast<void*>(payload)), out.bytes, out.name};
      if (lent.name != name) break;
      out.payload.store(0, std::memory_order_release);  // pairs with the exchange in lend()
      return lent;
    }
    return {};
  }

  /// One call at a time, for the calls of a lane that the caller serialises.
  void enter() noexcept {
    check(!busy_.exchange(true, std::memory_order_acquire), "two calls for one lane at once");
  }
  void leave() noexcept { busy_.store(false, std::memory_order_release); }

 private:
  static constexpr uint32_t kBuckets = 1 << 14;
  static constexpr uint32_t kHeldMax = 1 << 12;
  static constexpr uint32_t kOutMax = 256;
  struct Out {
    std::atomic<uint64_t> payload{0};  ///< 0: free; 1: being written
    uint64_t bytes = 0;
    uint64_t name = 0;
  };
  static uint64_t bucket(uint64_t cookie) noexcept {
    return (cookie * 0x9e3779b97f4a7c15) >> 32 & (kBuckets - 1);
  }

  struct Held {
    uint32_t begin = 0;
    uint32_t end = 0;
    const std::byte* data[kHeldMax];
  };
  std::atomic<bool> busy_{false};
  std::atomic<uint32_t> owed_[kBuckets] = {};
  Held held_[2];
  Out out_[kOutMax];
};

class LaneUse {
 public:
  explicit LaneUse(LaneLedger& ledger) noexcept : ledger_(ledger) { ledger.enter(); }
  ~LaneUse() { ledger_.leave(); }
  LaneUse(const LaneUse&) = delete;

 private:
  LaneLedger& ledger_;
};

class Checked final : public ForwardingDriver {
 public:
  explicit Checked(std::unique_ptr<Driver> driver)
      : ForwardingDriver(*driver), owned_(std::move(driver)) {}

  Status open(const OpenInfo& info) override {
    check(!is_open_, "open: twice");
    check(info.rank < info.rank_count, "open: no such rank", info.rank, info.rank_count);
    check(info.network_depth >= 1, "open: no depth at all");
    auto opened = inner().open(info);
    if (!opened) return opened;
    learn_caps();
    check(info.lanes >= 1 && info.lanes <= caps_.lanes_max, "open: lanes", info.lanes,
          caps_.lanes_max);
    info_ = info;
    lanes_ = std::make_unique<LaneLedger[]>(info.lanes);
    connected_.assign(info.rank_count, false);
    is_open_ = true;
    return opened;
  }
  std::vector<std::byte> address() const override {
    check_open();
    return inner().address();
  }
  Status connect(Rank peer, std::span<const std::byte> address) override {
    check_open();
    check(peer < info_.rank_count, "connect: no such rank", peer, info_.rank_count);
    check(!connected_[peer], "connect: twice to one rank", peer);
    auto connected = inner().connect(peer, address);
    connected_[peer] = connected.ok();
    learn_caps();
    return connected;
  }
  Result<Region> pin(void* base, uint64_t bytes, int fd, uint64_t fd_offset) override {
    check_open();
    check(base != nullptr && bytes != 0, "pin: nothing", base, bytes);
    return note_pinned(inner().pin(base, bytes, fd, fd_offset), base, bytes);
  }
  Result<Region> pin_device(void* base, uint64_t bytes, int dmabuf) override {
    check_open();
    check(base != nullptr && bytes != 0 && dmabuf >= 0, "pin_device: nothing", base, bytes, dmabuf);
    return note_pinned(inner().pin_device(base, bytes, dmabuf), base, bytes);
  }
  Result<Region> expose(void* base, uint64_t bytes) override {
    check_open();
    check(caps_.exposes, "expose: without caps().exposes");
    check(bytes != 0, "expose: nothing", base);
    auto exposed = inner().expose(base, bytes);
    // A driver may do more, or less, with all memory. Segments that are bound later change nothing,
    // and may not: other threads read caps_.
    if (exposed && bytes == ~uint64_t{0}) learn_caps();
    return note_pinned(std::move(exposed), base, bytes);
  }
  Status unpin(const Region& region) override {
    check_open();
    const auto found = std::find_if(pinned_.begin(), pinned_.end(), [&](const Region& r) {
      return r.base == region.base && r.bytes == region.bytes && r.remote_key == region.remote_key;
    });
    check(found != pinned_.end(), "unpin: a region that is not pinned", region.base);
    pinned_.erase(found);
    return inner().unpin(region);
  }
  void close() override {
    is_open_ = false;
    inner().close();
  }

  uint32_t post(uint32_t lane, std::span<const Work> work) noexcept override {
    check_open();
    LaneLedger& ledger = at(lane);
    check(!work.empty(), "post: no work");
    for (const Work& item : work) {
      check_work(item);
      // Before it is taken: another thread may poll its completion while post() runs.
      if (is_signalled(item)) ledger.owe_done(item.cookie);
      if (is_lent(item)) {
        const Lent lent = ledger.take_lent(item.local, item.lent);
        check(lent.payload != nullptr, "post: memory that is not lent", item.local);
        check(item.bytes <= lent.bytes, "post: more than was lent", item.bytes, lent.bytes);
      }
    }
    if (!caps_.concurrent_post) ledger.enter();
    const uint32_t taken = inner().post(lane, work);
    if (!caps_.concurrent_post) ledger.leave();
    check(taken <= work.size(), "post: took more than there was", taken, work.size());
    for (const Work& item : work.subspan(taken)) {
      if (is_signalled(item)) ledger.forgive_done(item.cookie);
      if (is_lent(item)) {
        ledger.lend({static_cast<std::byte*>(item.local), item.bytes, item.lent});
      }
    }
    return taken;
  }

  Lent lend(uint32_t lane, Rank peer, uint64_t bytes) noexcept override {
    check_open();
    LaneLedger& ledger = at(lane);
    check(peer < info_.rank_count && connected_[peer], "lend: no such rank", peer);
    check(bytes <= caps_.lent_bytes_max, "lend: more than lent_bytes_max", bytes,
          caps_.lent_bytes_max);
    if (!caps_.concurrent_post) ledger.enter();
    const Lent lent = inner().lend(lane, peer, bytes);
    if (!caps_.concurrent_post) ledger.leave();
    if (lent.payload == nullptr) return lent;
    check(lent.bytes >= bytes, "lend: less than was asked for", lent.bytes, bytes);
    check(reinterpret_cast<uintptr_t>(lent.payload) % 16 == 0, "lend: not aligned", lent.payload);
    ledger.lend(lent);
    return lent;
  }
  void take_back(uint32_t lane, const Lent& lent) noexcept override {
    LaneLedger& ledger = at(lane);
    const Lent out = ledger.take_lent(lent.payload, lent.name);
    check(out.payload != nullptr, "take_back: memory that is not lent", lent.payload);
    if (!caps_.concurrent_post) ledger.enter();
    inner().take_back(lane, lent);
    if (!caps_.concurrent_post) ledger.leave();
  }

  uint32_t done(uint32_t lane, std::span<Done> out) noexcept override {
    LaneLedger& ledger = at(lane);
    LaneUse use(ledger);
    const uint32_t count = inner().done(lane, out);
    check(count <= out.size(), "done: more than there is room for", count, out.size());
    for (const Done& done : out.first(count)) {
      check(done.status <= WorkStatus::kFlushed, "done: no such status",
            static_cast<int>(done.status));
      ledger.take_done(done.cookie);
    }
    return count;
  }

  uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept override {
    check_open();
    LaneLedger& ledger = at(lane);
    LaneUse use(ledger);
    const uint32_t count = inner().recv(lane, filter, out);
    check(count <= out.size(), "recv: more than there is room for", count, out.size());
    for (const Recv& recv : out.first(count)) {
      check(recv.cls <= MessageClass::kReply, "recv: no such class", static_cast<int>(recv.cls));
      check(filter == RecvFilter::kAll || recv.cls == MessageClass::kReply,
            "recv: a request, where only replies were asked for", recv.peer);
      check(recv.peer < info_.rank_count, "recv: from no rank of the job", recv.peer);
      check(reinterpret_cast<uintptr_t>(recv.data) % 16 == 8, "recv: data % 16 is not 8",
            recv.data);
      check(recv.bytes <= caps_.send_bytes_max, "recv: longer than send_bytes_max", recv.bytes);
      ledger.hand_out(recv);
    }
    return count;
  }

  void give_back(uint32_t lane, std::span<const Recv> buffers) noexcept override {
    LaneLedger& ledger = at(lane);
    LaneUse use(ledger);
    for (const Recv& recv : buffers) ledger.take_back(recv);
    inner().give_back(lane, buffers);
  }

  bool idle(uint32_t lane) const noexcept override {
    at(lane);
    return inner().idle(lane);
  }
  int event_fd(uint32_t lane) const noexcept override {
    at(lane);
    const int fd = inner().event_fd(lane);
    check((fd >= 0) == caps_.event_fd, "event_fd: not as caps().event_fd says", fd);
    return fd;
  }
  Armed arm(uint32_t lane) noexcept override {
    LaneUse use(at(lane));
    const Armed armed = inner().arm(lane);
    check(armed == Armed::kBusy || caps_.event_fd, "arm: armed without an event_fd", lane);
    return armed;
  }
  bool disarm(uint32_t lane) noexcept override {
    LaneUse use(at(lane));
    const bool was_armed = inner().disarm(lane);
    check(!was_armed || caps_.event_fd, "disarm: was armed without an event_fd", lane);
    return was_armed;
  }
  bool drained(uint32_t lane) const noexcept override {
    at(lane);
    return inner().drained(lane);
  }
  const Failure* failure() const noexcept override {
    const Failure* failure = inner().failure();
    if (failure != nullptr) {
      has_failed_.store(true, std::memory_order_relaxed);
    } else {
      check(!has_failed_.load(std::memory_order_relaxed), "failure: it came to life again");
    }
    return failure;
  }

 private:
  Result<Region> note_pinned(Result<Region> region, const void* base, uint64_t bytes) {
    if (!region) return region;
    check(region->base == reinterpret_cast<uint64_t>(base) && region->bytes == bytes,
          "pin or expose: another region than was asked for", region->base, region->bytes);
    pinned_.push_back(*region);
    return region;
  }
  static bool is_signalled(const Work& work) noexcept { return (work.flags & kWorkSilent) == 0; }
  static bool is_lent(const Work& work) noexcept { return (work.flags & kWorkLent) != 0; }
  void check_open() const noexcept { check(is_open_, "a call before open or after close"); }
  LaneLedger& at(uint32_t lane) const noexcept {
    check(lane < info_.lanes && lanes_ != nullptr, "no such lane", lane, info_.lanes);
    return lanes_[lane];
  }

  void learn_caps() noexcept {
    caps_ = inner().caps();
    check(caps_.lanes_max >= 1, "caps: no lane");
    check(caps_.send_bytes_max > kHeadBytesMax, "caps: send_bytes_max", caps_.send_bytes_max);
    check(caps_.inline_bytes_max <= caps_.eager_bytes_max,
          "caps: inline_bytes_max above eager_bytes_max", caps_.inline_bytes_max,
          caps_.eager_bytes_max);
    check(caps_.eager_bytes_max <= caps_.copied_bytes_max,
          "caps: eager_bytes_max above copied_bytes_max", caps_.eager_bytes_max,
          caps_.copied_bytes_max);
    check(caps_.copied_bytes_max <= caps_.put_bytes_max,
          "caps: copied_bytes_max above put_bytes_max", caps_.copied_bytes_max,
          caps_.put_bytes_max);
    check(caps_.lent_bytes_max + kHeadBytesMax <= caps_.send_bytes_max,
          "caps: lent_bytes_max above what a message carries", caps_.lent_bytes_max,
          caps_.send_bytes_max);
  }

  void check_work(const Work& work) const noexcept {
    check(work.op <= Op::kScatter, "post: no such operation", static_cast<int>(work.op));
    check(work.cls <= MessageClass::kReply, "post: no such class", static_cast<int>(work.cls));
    check((work.flags & ~(kWorkCopied | kWorkSilent | kWorkFenced | kWorkLent | kWorkDevice)) == 0,
          "post: unknown flags", work.flags);
    check(!is_lent(work) || (work.op == Op::kSend && work.head_bytes % 16 == 8),
          "post: lent memory in another message than it is for", static_cast<int>(work.op),
          work.head_bytes);
    check((work.flags & kWorkFenced) == 0 || work.op == Op::kSend, "post: a fence of no kSend",
          static_cast<int>(work.op));
    check((work.flags & kWorkDevice) == 0 ||
              ((work.op == Op::kPut || work.op == Op::kGet) && work.local_key != kNoRegion &&
               (work.flags & kWorkCopied) == 0),
          "post: device memory that is copied, or has no key", static_cast<int>(work.op));
    check(work.peer < info_.rank_count, "post: no such rank", work.peer, info_.rank_count);
    check(connected_[work.peer], "post: the rank is not connected", work.peer);
    check(work.head_bytes <= kHeadBytesMax && work.head_bytes % 8 == 0, "post: bad head_bytes",
          work.head_bytes);
    const bool is_atomic = work.op == Op::kFetchOp || work.op == Op::kCompareSwap;
    check(work.bytes == 0 || work.local != nullptr || is_atomic, "post: bytes without memory",
          work.bytes);
    const bool is_copied = (work.flags & kWorkCopied) != 0;
    switch (work.op) {
      case Op::kSend:
        check(work.head_bytes + work.bytes <= caps_.send_bytes_max,
              "post: message larger than send_bytes_max", work.bytes, caps_.send_bytes_max);
        break;
      case Op::kPut:
      case Op::kPutSend:
        check(work.bytes <= caps_.put_bytes_max, "post: put larger than put_bytes_max", work.bytes,
              caps_.put_bytes_max);
        check(!is_copied || work.bytes <= caps_.copied_bytes_max,
              "post: copied put larger than copied_bytes_max", work.bytes, caps_.copied_bytes_max);
        break;
      case Op::kGet:
        check(work.bytes <= caps_.put_bytes_max, "post: get larger than put_bytes_max", work.bytes,
              caps_.put_bytes_max);
        check(!is_copied, "post: a get cannot be copied");
        break;
      case Op::kFetchOp:
      case Op::kCompareSwap:
        check(work.head != nullptr && work.bytes == sizeof(uint64_t) && work.remote % 8 == 0,
              "post: a malformed atomic", work.bytes, work.remote);
        check((caps_.atomic64 & atomics_on(work.remote_key) &
               atomic_bit(static_cast<const AtomicOperands*>(work.head)->code)) != 0,
              "post: an atomic without caps().atomic64, or on memory of a key without atomics",
              work.remote_key);
        break;
      case Op::kScatter:
        check_scatter(work);
        break;
    }
  }
  void check_scatter(const Work& work) const noexcept {
    check(work.bytes <= caps_.scatter_bytes_max, "post: a list larger than scatter_bytes_max",
          work.bytes, caps_.scatter_bytes_max);
    check((work.flags & kWorkCopied) != 0 && work.head_bytes == 0,
          "post: a list that is not copied, or has a head", work.flags, work.head_bytes);
    ScatterReader pieces(work.remote, static_cast<const std::byte*>(work.local),
                         static_cast<uint32_t>(work.bytes));
    ScatterPiece piece;
    while (pieces.next(piece)) continue;
    check(work.bytes != 0 && pieces.is_at_end(), "post: a malformed list of pieces", work.bytes);
  }

  std::unique_ptr<Driver> owned_;
  OpenInfo info_{};
  Caps caps_;
  bool is_open_ = false;
  std::unique_ptr<LaneLedger[]> lanes_;
  std::vector<bool> connected_;
  std::vector<Region> pinned_;
  mutable std::atomic<bool> has_failed_{false};
};

}  // namespace

std::unique_ptr<Driver> make_checked(std::unique_ptr<Driver> inner) {
  return std::make_unique<Checked>(std::move(inner));
}

}  // namespace pinwire
