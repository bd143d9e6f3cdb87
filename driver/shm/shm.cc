#include "driver/shm/shm.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/bits.h"
#include "core/base/counter.h"
#include "core/base/threads/membarrier.h"
#include "driver/atomics.h"
#include "driver/failure_note.h"
#include "driver/scatter.h"
#include "driver/shm/cma.h"
#include "driver/shm/cma_peer.h"
#include "driver/shm/lines.h"
#include "driver/shm/wake_pipe.h"

namespace pinwire {
namespace {

using shm::Inbox;
using shm::RingConsumer;
using shm::RingProducer;
using shm::WakePipe;

/// Slots that one unit of network depth stands for: a depth of 2 still carries 512-byte Mediums.
constexpr uint32_t kSlotsPerDepth = 16;
constexpr uint32_t kSlotsMin = 32;
constexpr uint32_t kDoneMax = 256;
constexpr uint64_t kInRing = 0;  // Recv::buffer; else 1 + that of its sender's outbox
/// The number of messages sent since something was received that makes a stream.
constexpr uint64_t kStreamMessages = 4;

/// Memory of a peer that is mapped here.
struct MappedRegion {
  uint64_t base = 0;
  uint64_t bytes = 0;
  std::byte* mapped = nullptr;

  std::byte* at(const Work& item) const noexcept {
    return inside(item.remote, item.bytes, base, bytes) ? mapped + (item.remote - base) : nullptr;
  }
};

/// Keys of map_bound_region().
constexpr uint32_t kBoundKeyFirst = 2;

/// A rank of this host; made by connect(), so that ranks elsewhere cost two pointers.
struct Peer {
  Inbox inbox;
  shm::OutboxView outbox;           // its own
  std::vector<RingProducer> rings;  // 2 * lane + class
  std::vector<WakePipe> wakes;      // of each lane
  MappedRegion region;
  std::unique_ptr<MappedRegion[]> bound;  // by index; made when the first is mapped
  shm::CmaPeer far;
};

struct alignas(kCacheLineBytes) Lane {
  RingConsumer rings[2];
  MessageClass first = MessageClass::kReply;  // which ring the next recv() looks at first
  std::atomic<bool> done_lock{false};
  std::atomic<uint32_t> done_count{0};  // written under the lock
  Done done[kDoneMax];
  std::atomic<uint64_t> messages_sent{0};
  std::atomic<uint64_t> sent_at_recv{0};  // messages_sent when recv() last found something; a hint
  std::atomic<uint64_t> bytes_copied{0};  // of payload, into rings
  std::atomic<uint64_t> bytes_lent{0};    // sent where they were written
  Counter messages_received, wakeups_armed;  // by who holds the lane
  WakePipe wake;
};

class Shm final : public ShmDriver {
 public:
  explicit Shm(uint32_t ring_slots) : ring_slots_max_(ring_slots) {}
  const char* name() const noexcept override { return "shm"; }

  Caps caps() const noexcept override {
    return {.lanes_max = shm::kInboxLanesMax,
            .send_bytes_max = shm::message_bytes_max(slot_count_),
            .put_bytes_max = ~uint64_t{0},
            .inline_bytes_max = ~uint64_t{0},
            .eager_bytes_max = ~uint64_t{0},
            .copied_bytes_max = ~uint64_t{0},
            .lent_bytes_max = std::min<uint64_t>(
                shm::kLentBytes, shm::message_bytes_max(slot_count_) - kHeadBytesMax),
            .scatter_bytes_max = has_exposed_all_ ? shm::kScatterBytesMax : 0,
            .hw_rdma = true,
            .ordered_put_send = true,
            .atomic64 = has_exposed_all_ ? 0 : kAllAtomics,  // the kernel copies, no more
            .atomics_meet_cpu = true,
            .exposes = true,
            .in_place_rx = true,
            .event_fd = true,
            .concurrent_post = true,
            .concurrent_idle = true};
  }

  Status open(const OpenInfo& info) override {
    check(lanes_.empty(), "opened twice");
    check(info.rank < info.rank_count, "a rank that the job has not", info.rank, info.rank_count);
    info_ = info;
    const uint32_t wanted = std::min(info.network_depth * kSlotsPerDepth, ring_slots_max_);
    slot_count_ = std::clamp(std::bit_ceil(wanted), kSlotsMin, shm::kSlotCountMax);
    auto inbox = Inbox::create(info.lanes, slot_count_);
    if (!inbox) return inbox.error();
    own_ = std::move(*inbox);
    outbox_ = own_.outbox();
    lanes_ = std::vector<Lane>(info.lanes);
    peers_ = std::vector<std::unique_ptr<Peer>>(info.rank_count);
    rings_ = std::vector<RingProducer*>(info.rank_count);
    for (uint32_t lane = 0; lane < info.lanes; ++lane) {
      for (auto cls : {MessageClass::kRequest, MessageClass::kReply}) {
        lanes_[lane].rings[static_cast<int>(cls)] = RingConsumer(own_.ring(lane, cls));
      }
      auto wake = WakePipe::create();
      if (!wake) return wake.error();
      lanes_[lane].wake = std::move(*wake);
      own_.header().wakes[lane] = lanes_[lane].wake.address();
    }
    // Without that this process can never tell that all its senders know.
    if (!register_process_barriers()) tell_senders();  // there are none
    return success();
  }

  std::vector<std::byte> address() const override {
    const shm::InboxAddress mine = own_.address();
    const auto* bytes = reinterpret_cast<const std::byte*>(&mine);
    return {bytes, bytes + sizeof mine};
  }

  Status connect(Rank peer, std::span<const std::byte> address) override {
    check(peer < peers_.size(), "connect to a rank of the job", peer);
    check(peer != info_.rank, "connect to another rank than this one", peer);
    check(rings_[peer] == nullptr, "a rank is connected twice", peer);
    shm::InboxAddress theirs;
    if (address.size() != sizeof theirs)
      return error("shm: rank %u sent a malformed address", peer);
    std::memcpy(&theirs, address.data(), sizeof theirs);
    auto inbox = Inbox::map(theirs);
    if (!inbox) return inbox.error();
    peers_[peer] = std::make_unique<Peer>();
    Peer& to = *peers_[peer];
    to.inbox = std::move(*inbox);
    to.outbox = to.inbox.outbox();
    to.far = shm::CmaPeer(theirs.pid, theirs.base);
    to.rings.reserve(2 * info_.lanes);
    for (uint32_t lane = 0; lane < info_.lanes; ++lane) {
      for (auto cls : {MessageClass::kRequest, MessageClass::kReply}) {
        to.rings.emplace_back(to.inbox.ring(lane % to.inbox.lanes(), cls),
                              has_several_writers(to.inbox, lane, cls));
      }
    }
    for (uint32_t lane = 0; lane < to.inbox.lanes(); ++lane) {
      auto wake = WakePipe::open(theirs.pid, to.inbox.header().wakes[lane]);
      if (!wake) return wake.error();
      to.wakes.push_back(std::move(*wake));
    }
    check(to.rings.size() == 2 * lanes_.size(), "a peer has a ring for each lane and class", peer,
          to.rings.size());
    check(to.wakes.size() == to.inbox.lanes(), "a peer has a pipe for each of its lanes", peer,
          to.wakes.size());
    rings_[peer] = to.rings.data();
    return success();
  }

  Result<Region> pin(void* base, uint64_t bytes, int, uint64_t) override {
    return Region{reinterpret_cast<uint64_t>(base), bytes, kNoRegion, 1};
  }
  /// Peers map memory with a file behind it; all memory they reach by the kernel.
  Result<Region> expose(void* base, uint64_t bytes) override {
    if (bytes == ~uint64_t{0}) {
      has_exposed_all_ = true;  // also after a segment of the client's own is exposed by itself
      shm::allow_cma();
    }
    return Region{reinterpret_cast<uint64_t>(base), bytes, kNoRegion, 1};
  }
  Status unpin(const Region&) override { return success(); }
  /// Memory that is mapped nowhere here is copied by the kernel, no more.
  uint32_t atomics_on(uint32_t remote_key) const noexcept override {
    return remote_key == kCmaKey ? 0 : kAllAtomics;
  }
  void close() override {}

  void map_peer_region(Rank peer, uint64_t base, uint64_t bytes, std::byte* mapped) override {
    check(peers_[peer] != nullptr, "a region of a peer that is not connected", peer);
    check(bytes == 0 || mapped != nullptr, "a region that is not mapped", peer, bytes);
    peers_[peer]->region = {base, bytes, mapped};
  }
  uint32_t map_bound_region(Rank peer, uint32_t index, uint64_t base, uint64_t bytes,
                            std::byte* mapped) override {
    check(peers_[peer] != nullptr, "a bound region of a peer that is not connected", peer);
    check(index < kBoundRegionsMax, "no such bound region", peer, index);
    Peer& to = *peers_[peer];
    if (to.bound == nullptr) to.bound = std::make_unique<MappedRegion[]>(kBoundRegionsMax);
    to.bound[index] = {base, bytes, mapped};
    return kBoundKeyFirst + index;
  }
  void allow_peer_processes() noexcept override { shm::allow_cma(); }
  Status reach_peer_process(Rank peer) override {
    check(peers_[peer] != nullptr, "memory of a peer that is not connected", peer);
    return peers_[peer]->far.reach(peer, peers_[peer]->inbox.header());
  }
  uint32_t post(uint32_t lane, std::span<const Work> work) noexcept override {
    dcheck(lane < lanes_.size(), "work for a lane that is not open", lane);
    dcheck(!work.empty(), "no work is posted", lane);
    const Work& only = work.front();
    const bool is_plain = (only.flags & (kWorkSilent | kWorkLent)) == kWorkSilent;
    if (work.size() == 1 && only.op == Op::kSend && is_plain) [[likely]] {
      return send(lane, only, only.bytes) ? 1 : 0;
    }
    uint32_t taken = 0;
    for (const Work& item : work) {
      if (!post_one(lane, item)) break;
      ++taken;
    }
    return taken;
  }

  Lent lend(uint32_t, Rank, uint64_t) noexcept override {
    const uint32_t buffer = outbox_.board->take();
    if (buffer == shm::kLentBuffers) return {};
    std::byte* payload = outbox_.payload(buffer);
    dcheck(reinterpret_cast<uintptr_t>(payload) % 16 == 0, "memory is lent that is not aligned",
           buffer);
    return {payload, caps().lent_bytes_max, buffer};
  }
  void take_back(uint32_t, const Lent& lent) noexcept override {
    const auto buffer = static_cast<uint32_t>(lent.name);
    if constexpr (kChecks) {
      check(lent.payload == outbox_.payload(buffer), "memory is taken back that has another name",
            buffer);
    }
    outbox_.board->give(buffer);
  }

  uint32_t done(uint32_t lane, std::span<Done> out) noexcept override {
    dcheck(lane < lanes_.size(), "completions of a lane that is not open", lane);
    Lane& l = lanes_[lane];
    lock_done(l);
    const uint32_t held = l.done_count.load(std::memory_order_relaxed);
    dcheck(held <= kDoneMax, "more completions than a lane holds", held);
    const auto count = std::min(held, static_cast<uint32_t>(out.size()));
    std::copy_n(l.done + (held - count), count, out.begin());
    l.done_count.store(held - count, std::memory_order_relaxed);
    unlock_done(l);
    return count;
  }

  // A batch holds messages of one class: a thread that sends replies while it works through
  // requests polls for replies, and rings are freed in order.
  uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept override {
    dcheck(lane < lanes_.size(), "messages of a lane that is not open", lane);
    Lane& l = lanes_[lane];
    if (filter == RecvFilter::kRepliesOnly) return drain(l, MessageClass::kReply, out);
    const MessageClass first = l.first;
    const MessageClass second =
        first == MessageClass::kReply ? MessageClass::kRequest : MessageClass::kReply;
    l.first = second;
    if (const uint32_t count = drain(l, first, out)) return count;
    return drain(l, second, out);
  }

  void give_back(uint32_t lane, std::span<const Recv> buffers) noexcept override {
    dcheck(lane < lanes_.size(), "buffers of a lane that is not open", lane);
    for (const Recv& recv : buffers) {
      if (recv.buffer != kInRing) [[unlikely]]
        peers_[recv.peer]->outbox.board->give(static_cast<uint32_t>(recv.buffer - 1));
      lanes_[lane].rings[static_cast<int>(recv.cls)].free_next();
    }
  }

  bool idle(uint32_t lane) const noexcept override {
    dcheck(lane < lanes_.size(), "a lane that is not open", lane);
    const Lane& l = lanes_[lane];
    return !l.rings[0].has_message() && !l.rings[1].has_message() &&
           l.done_count.load(std::memory_order_relaxed) == 0;
  }
  bool has_arrivals(uint32_t lane) const noexcept override { return !idle(lane); }
  int event_fd(uint32_t lane) const noexcept override { return lanes_[lane].wake.fd(); }
  Armed arm(uint32_t lane) noexcept override {
    Lane& l = lanes_[lane];
    if (!are_senders_told_.load(std::memory_order_relaxed)) tell_senders();
    // A sender that finds a mark wakes after that; a wake of an older mark is one too many.
    l.wake.drain();
    const bool is_busy = l.done_count.load(std::memory_order_relaxed) != 0 || !l.rings[0].await() ||
                         !l.rings[1].await();
    if (is_busy) return Armed::kBusy;
    ++l.wakeups_armed;
    return Armed::kArmed;
  }
  const Failure* failure() const noexcept override { return failure_.get(); }

  void stats(StatSink& sink) const noexcept override {
    uint64_t sent = 0, received = 0, armed = 0, copied = 0, lent = 0;
    for (const Lane& lane : lanes_) {
      sent += lane.messages_sent.load(std::memory_order_relaxed);
      received += lane.messages_received;
      armed += lane.wakeups_armed;
      copied += lane.bytes_copied.load(std::memory_order_relaxed);
      lent += lane.bytes_lent.load(std::memory_order_relaxed);
    }
    sink.stat("messages_sent", sent);
    sink.stat("messages_received", received);
    sink.stat("message_copied_bytes", copied);
    sink.stat("message_lent_bytes", lent);
    sink.stat("ring_slots", slot_count_);
    sink.stat("wakeups_armed", armed);
  }

 private:
  /// With one possible writer the tail stays private to it: no locked instruction per message.
  /// Replies are sent under the lane's lock, so threads take turns there.
  bool has_several_writers(const Inbox& to, uint32_t lane, MessageClass cls) const noexcept {
    if (info_.rank_count > 2 || to.lanes() < info_.lanes) return true;
    return info_.concurrent && cls == MessageClass::kRequest && lane >= info_.owned_lanes;
  }

  uint32_t drain(Lane& lane, MessageClass cls, std::span<Recv> out) noexcept {
    RingConsumer& ring = lane.rings[static_cast<int>(cls)];
    uint32_t count = 0;
    while (count < out.size()) {
      const RingConsumer::Message message = ring.next();
      if (message.data == nullptr) break;
      dcheck(message.source < peers_.size(), "a message of a rank that the job has not",
             message.source);
      out[count] = {message.data, message.bytes, message.source, kInRing, cls};
      if (message.is_elsewhere) [[unlikely]]
        find_elsewhere(out[count]);
      dcheck(reinterpret_cast<uintptr_t>(out[count].data) % 16 == 8,
             "a message whose body is not aligned is handed out", out[count].data);
      ++count;
    }
    if (count != 0) {
      lane.messages_received += count;
      lane.sent_at_recv.store(lane.messages_sent.load(std::memory_order_relaxed),
                              std::memory_order_relaxed);
    }
    return count;
  }

  /// The message lies in its sender's outbox.
  void find_elsewhere(Recv& recv) noexcept {
    shm::Elsewhere place;
    check(recv.bytes == sizeof place, "a message that does not say where it lies", recv.bytes,
          recv.peer);
    check(peers_[recv.peer] != nullptr, "a message in the outbox of a rank that is not connected",
          recv.peer);
    std::memcpy(&place, recv.data, sizeof place);
    check(place.head_bytes <= kHeadBytesMax, "a head of absurd length", place.head_bytes);
    check(place.payload_bytes <= shm::kLentBytes, "a payload of absurd length",
          place.payload_bytes);
    recv.data = peers_[recv.peer]->outbox.payload(place.buffer) - place.head_bytes;
    recv.bytes = place.head_bytes + place.payload_bytes;
    recv.buffer = uint64_t{place.buffer} + 1;
  }

  /// Sends a payload in lent memory: the ring says where. One that fits a slot beside its head is
  /// copied there, as both go in one line.
  bool send_lent(uint32_t lane, const Work& item) noexcept {
    const auto buffer = static_cast<uint32_t>(item.lent);
    std::byte* payload = outbox_.payload(buffer);
    dcheck(item.local == payload, "a message from other memory than was lent", buffer);
    dcheck(item.bytes <= shm::kLentBytes, "a message of more bytes than were lent", item.bytes);
    dcheck(item.head_bytes % 16 == 8, "a head whose payload would not stay aligned",
           item.head_bytes);
    if (item.head_bytes + item.bytes <= shm::kBodyBytes) {
      if (!send(lane, item, item.bytes)) return false;
      outbox_.board->give(buffer);
      return true;
    }
    const shm::Elsewhere place{buffer, item.head_bytes, static_cast<uint32_t>(item.bytes)};
    std::memcpy(payload - item.head_bytes, item.head, item.head_bytes);
    Work where = item;
    where.head = &place;
    where.head_bytes = sizeof place;
    if (!send<true>(lane, where, 0)) return false;
    count(lanes_[lane].bytes_lent, item.bytes);
    return true;
  }

  bool post_one(uint32_t lane, const Work& item) noexcept {
    dcheck(item.peer < peers_.size(), "work for a rank of the job", item.peer);
    const bool signalled = (item.flags & kWorkSilent) == 0;
    if (signalled && lanes_[lane].done_count.load(std::memory_order_relaxed) == kDoneMax)
      return false;
    WorkStatus status = WorkStatus::kOk;
    switch (item.op) {
      case Op::kSend:
        if ((item.flags & kWorkLent) ? !send_lent(lane, item) : !send(lane, item, item.bytes)) {
          return false;
        }
        break;
      case Op::kPutSend:
        // The copy comes first; release order of the word makes it visible before the message.
        if (!put_then_send(lane, item, status)) return false;
        break;
      case Op::kScatter:
        status = scatter(item);
        break;
      default:
        status = one_sided(item, item.op);
    }
    if (signalled) push_done(lanes_[lane], {item.cookie, status});
    return true;
  }

  /// From any thread that shares the lane: they may lose a count, which is harmless.
  static void count(std::atomic<uint64_t>& counter, uint64_t bytes) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }

  template <bool is_elsewhere = false>
  [[gnu::always_inline]] bool send(uint32_t lane, const Work& item,
                                   uint64_t payload_bytes) noexcept {
    const auto bytes = static_cast<uint32_t>(item.head_bytes + payload_bytes);
    dcheck(bytes <= shm::message_bytes_max(slot_count_), "message too long", bytes);
    dcheck(item.head_bytes <= kHeadBytesMax, "a head too long", item.head_bytes);
    dcheck(item.head_bytes % 8 == 0, "a head that is not of whole words", item.head_bytes);
    dcheck(item.peer < rings_.size(), "a message to a rank of the job", item.peer);
    dcheck(rings_[item.peer] != nullptr, "a message to a rank that is not connected", item.peer);
    RingProducer& ring = rings_[item.peer][2 * lane + static_cast<uint32_t>(item.cls)];
    Lane& l = lanes_[lane];
    const uint64_t sent = l.messages_sent.load(std::memory_order_relaxed);
    const uint64_t streak = sent - l.sent_at_recv.load(std::memory_order_relaxed);
    const bool is_streaming = streak >= kStreamMessages;
    shm::Extent place;
    if (!ring.reserve(bytes, is_streaming, place)) return false;
    std::byte* body = ring.body(place, bytes);
    const auto* head = static_cast<const std::byte*>(item.head);
    for (uint32_t at = 0; at < item.head_bytes; at += 8) std::memcpy(body + at, head + at, 8);
    if (payload_bytes != 0) std::memcpy(body + item.head_bytes, item.local, payload_bytes);
    if (ring.publish(place, info_.rank, bytes, is_elsewhere)) [[unlikely]]
      wake(item.peer, lane);
    if (bytes > shm::kBodyBytes) {
      if (!is_streaming) ring.own_next_lines(place, bytes);
      count(l.bytes_copied, payload_bytes);
    }
    l.messages_sent.store(sent + 1,
                          std::memory_order_relaxed);  // threads may lose a count: harmless
    return true;
  }

  [[gnu::cold]] void wake(Rank peer, uint32_t lane) noexcept {
    const Peer& to = *peers_[peer];
    check(!to.wakes.empty(), "a peer that sleeps has a pipe for each of its lanes", peer);
    to.wakes[lane % to.wakes.size()].wake();
  }

  /// That this process sleeps at times: once this returns they look for the mark.
  void tell_senders() noexcept {
    for (uint32_t lane = 0; lane < info_.lanes; ++lane) {
      for (auto cls : {MessageClass::kRequest, MessageClass::kReply}) {
        own_.ring(lane, cls).control->sleeps.store(1, std::memory_order_relaxed);
      }
    }
    pass_process_barriers();  // cannot fail where this process could register
    are_senders_told_.store(true, std::memory_order_relaxed);
  }

  bool put_then_send(uint32_t lane, const Work& item, WorkStatus& status) noexcept {
    // A message that finds no room leaves its data written: it is written again.
    status = one_sided(item, Op::kPut);
    return status != WorkStatus::kOk || send(lane, item, 0);
  }

  WorkStatus one_sided(const Work& item, Op op) noexcept {
    std::byte* far = reach(item);
    if (far == nullptr) {
      return peers_[item.peer] == nullptr ? WorkStatus::kRemoteAccess
                                          : peers_[item.peer]->far.transfer(item, op, failure_);
    }
    if (op == Op::kPut) {
      std::memcpy(far, item.local, item.bytes);
    } else if (op == Op::kGet) {
      std::memcpy(item.local, far, item.bytes);
    } else {
      dcheck(item.bytes == sizeof(uint64_t), "an atomic is of 8 bytes", item.bytes);
      dcheck(reinterpret_cast<uintptr_t>(far) % sizeof(uint64_t) == 0,
             "an atomic on a word that is not aligned", item.remote);
      AtomicOperands operands;
      std::memcpy(&operands, item.head, sizeof operands);
      const uint64_t old = apply_atomic(reinterpret_cast<uint64_t*>(far), operands);
      if (item.local != nullptr) std::memcpy(item.local, &old, sizeof old);
    }
    return WorkStatus::kOk;
  }

  /// The kernel reaches memory that is mapped here, too, so it copies all pieces if it must copy
  /// the first one.
  WorkStatus scatter(const Work& item) noexcept {
    check(has_exposed_all_, "post: scatter_bytes_max is 0", item.bytes);
    Work put = item;
    put.bytes = 1;  // at the place of the first piece
    if (peers_[item.peer] != nullptr && reach(put) == nullptr)
      return peers_[item.peer]->far.scatter(item, failure_);
    ScatterReader pieces(item.remote, static_cast<const std::byte*>(item.local),
                         static_cast<uint32_t>(item.bytes));
    WorkStatus status = WorkStatus::kOk;
    for (ScatterPiece piece; status == WorkStatus::kOk && pieces.next(piece);) {
      put.local = const_cast<std::byte*>(piece.data);
      put.remote = piece.remote;
      put.bytes = piece.bytes;
      status = one_sided(put, Op::kPut);
    }
    return status;
  }

  std::byte* reach(const Work& item) const noexcept {
    if (peers_[item.peer] == nullptr) return nullptr;
    const Peer& to = *peers_[item.peer];
    if (item.remote_key < kBoundKeyFirst) [[likely]]
      return to.region.at(item);
    if (item.remote_key == kCmaKey || to.bound == nullptr) return nullptr;
    return to.bound[(item.remote_key - kBoundKeyFirst) % kBoundRegionsMax].at(item);
  }

  // acquire on lock pairs with release on unlock
  static void lock_done(Lane& lane) noexcept {
    while (lane.done_lock.exchange(true, std::memory_order_acquire)) cpu_relax();
  }
  static void unlock_done(Lane& lane) noexcept {
    lane.done_lock.store(false, std::memory_order_release);
  }
  static void push_done(Lane& lane, const Done& done) noexcept {
    lock_done(lane);
    const uint32_t held = lane.done_count.load(std::memory_order_relaxed);
    check(held < kDoneMax, "more signalled work in flight than a lane holds");
    lane.done[held] = done;
    lane.done_count.store(held + 1, std::memory_order_relaxed);
    unlock_done(lane);
  }

  OpenInfo info_;
  bool has_exposed_all_ = false;
  std::atomic<bool> are_senders_told_{false};
  FailureNote failure_;
  const uint32_t ring_slots_max_;
  uint32_t slot_count_ = kSlotsMin;
  Inbox own_;
  shm::OutboxView outbox_;
  std::vector<Lane> lanes_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<RingProducer*> rings_;  // of each peer: 2 * lane + class
};

}  // namespace

std::unique_ptr<ShmDriver> make_shm_driver(uint32_t ring_slots) {
  return std::make_unique<Shm>(ring_slots);
}

}  // namespace pinwire
