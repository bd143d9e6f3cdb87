// Clients of many ranks of the verbs driver, each with work of all kinds under way, that look at
// every byte of it: messages and replies come once and whole, puts are there once they are done or
// their message comes, gets bring what is there, and fetching adds are atomic.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "tests/support/byte_pattern.h"
#include "tests/unit/driver/verbs/many_hosts.h"

namespace pinwire {

class CheckedCrowd : public ManyHosts {
 public:
  enum class Kind { kShort, kMedium, kPut, kPutSend, kGet, kAdd };
  static constexpr uint64_t kKinds = 6;

  CheckedCrowd(Rank ranks, uint32_t depth, uint64_t seed, Limits limits)
      : ManyHosts(ranks, depth, seed, with_memory(limits, ranks)), random_(seed), clients_(ranks) {
    for (Rank rank = 0; rank < ranks; ++rank) {
      fill_pattern(memory(rank, 0), kSourceBytes, rank);
    }
  }

  uint64_t draw(uint64_t below) { return random_() % below; }

  Rank any_peer_of(Rank rank) {
    return (rank + 1 + static_cast<Rank>(draw(ranks() - 1))) % ranks();
  }
  /// Work of any kind; false: the driver has no room for it.
  bool start_any(Rank from, Rank to) {
    const auto kind = static_cast<Kind>(draw(kKinds));
    const uint32_t slot = free_slot(from);
    if (kind == Kind::kShort || kind == Kind::kMedium || slot == kSlots) {
      return start_request(from, to, kind == Kind::kMedium ? 1 + draw(kMediumMax) : 0);
    }
    return start_one_sided(from, to, kind, slot);
  }
  bool start_request(Rank from, Rank to, uint64_t bytes = 0) {
    const uint32_t id = clients_[from].sent;
    if (!post(from, filled(from, to, MessageClass::kRequest, id, bytes, 0))) return false;
    note_message(from);
    return true;
  }
  /// False: three are under way, or the driver has no room.
  bool start_get(Rank from, Rank to) {
    const uint32_t slot = free_slot(from);
    return slot != kSlots && start_one_sided(from, to, Kind::kGet, slot);
  }
  /// The value of ended() once all has ended.
  uint64_t expected() const { return expected_; }
  /// Whether puts, gets and adds of this rank are under way. A put with a message is not counted:
  /// it may wait for its receiver.
  bool has_one_sided(Rank rank) const {
    const auto& slots = clients_[rank].slots;
    return std::any_of(slots, slots + kSlots, [](const Slot& slot) {
      return slot.owed != 0 && slot.kind != Kind::kPutSend;
    });
  }

  /// Once all has ended.
  void expect_each_once() {
    for (Rank rank = 0; rank < ranks(); ++rank) {
      const Client& client = clients_[rank];
      EXPECT_EQ(std::count(client.handled.begin(), client.handled.end(), 1), client.sent) << rank;
      EXPECT_EQ(std::count(client.answered.begin(), client.answered.end(), 1), client.sent) << rank;
      expect_atomic(rank);
    }
  }

 protected:
  void on_message(Rank at, const Recv& message) override {
    uint64_t head[2];
    std::memcpy(head, message.data, sizeof head);
    if ((head[0] & kOurs) == 0) return;  // of meet()
    const bool is_reply = message.cls == MessageClass::kReply;
    const Rank from = is_reply ? at : message.peer;
    const auto id = static_cast<uint32_t>(head[0]);
    Client& client = clients_[from];
    ASSERT_LT(id, client.sent) << "from rank " << message.peer;
    EXPECT_EQ(++(is_reply ? client.answered : client.handled)[id], 1) << "message " << id;
    EXPECT_EQ(message.bytes, sizeof head + (head[1] & kBytesMask));
    EXPECT_TRUE(
        holds_pattern(message.data + sizeof head, head[1] & kBytesMask, seed_of(message.peer, id)))
        << "message " << id << " of rank " << message.peer;
    const auto number = static_cast<uint32_t>(head[1] >> kSlotShift);
    if (number == 0) return;
    Slot& slot = client.slots[number - 1];
    if (is_reply) {
      --slot.owed;
    } else {
      expect_put(from, number - 1);
    }
  }

  Work reply_to(Rank at, const Recv& request) override {
    uint64_t head[2];
    std::memcpy(head, request.data, sizeof head);
    if ((head[0] & kOurs) == 0) return ManyHosts::reply_to(at, request);
    const auto id = static_cast<uint32_t>(head[0]);
    // The same handler may be refused, and tried again: its reply stays what it was.
    return filled(at, request.peer, MessageClass::kReply, id, id % 2 == 0 ? 0 : 1 + id % kMediumMax,
                  head[1] >> kSlotShift);
  }

  void on_done(Rank at, const Done& done) override {
    const auto number = static_cast<uint32_t>(done.cookie - 1);
    Slot& slot = clients_[at].slots[number];
    ASSERT_NE(slot.owed, 0u);
    --slot.owed;
    if (slot.kind == Kind::kPut) expect_put(at, number);
    if (slot.kind == Kind::kAdd) clients_[slot.peer].sums.push_back(slot.old);
    if (slot.kind == Kind::kGet) {
      EXPECT_EQ(std::memcmp(local(at, number), memory(slot.peer, slot.offset), slot.bytes), 0)
          << "a get of " << slot.bytes << " bytes by rank " << at;
    }
  }

 private:
  static constexpr uint32_t kSlots = 3, kMediumMax = 1024, kBytesMax = 20'000, kSlotBytes = 20'480;
  static constexpr uint64_t kSourceBytes = 64 << 10, kCounter = kSourceBytes;
  static constexpr uint64_t kLocals = kCounter + 64;
  static constexpr uint32_t kSlotShift = 32;
  static constexpr uint64_t kOurs = uint64_t{1} << 63;  ///< not of meet()
  static constexpr uint64_t kBytesMask = (uint64_t{1} << kSlotShift) - 1;
  static constexpr AtomicOperands kOne{AtomicCode::kAdd, 1, 0};

  /// The place of one operation that is under way.
  struct Slot {
    uint32_t owed = 0;  ///< its Done, and the reply to the message of a put
    Kind kind = Kind::kPut;
    Rank peer = 0;
    uint32_t seed = 0;
    uint64_t bytes = 0, offset = 0, old = 0;
  };
  struct Client {
    Slot slots[kSlots];
    uint32_t sent = 0;
    std::vector<uint8_t> handled, answered;  ///< how often each message was
    std::vector<uint64_t> sums;              ///< what adds to this rank's counter found
  };

  static Limits with_memory(Limits limits, Rank ranks) {
    limits.memory_bytes = kLocals + uint64_t{ranks + 1} * kSlots * kSlotBytes;
    return limits;
  }
  std::byte* memory(Rank rank, uint64_t offset) { return hosts_[rank].memory.data() + offset; }
  std::byte* local(Rank rank, uint32_t slot) { return memory(rank, kLocals + slot * kSlotBytes); }
  static uint64_t place_of(Rank from, uint32_t slot) {
    return kLocals + (uint64_t{from + 1} * kSlots + slot) * kSlotBytes;
  }
  static uint32_t seed_of(Rank sender, uint32_t id) { return sender * 1'000'003 + id; }

  Work filled(Rank from, Rank to, MessageClass cls, uint32_t id, uint64_t bytes, uint64_t slot) {
    fill_pattern(payload_, bytes, seed_of(from, id));
    head_[0] = kOurs | id;
    head_[1] = slot << kSlotShift | bytes;
    Work work = message(from, to, cls, bytes);
    work.head = head_;
    work.local = payload_;
    return work;
  }
  uint32_t free_slot(Rank rank) const {
    const auto& slots = clients_[rank].slots;
    const Slot* free =
        std::find_if(slots, slots + kSlots, [](const Slot& slot) { return slot.owed == 0; });
    return static_cast<uint32_t>(free - slots);
  }
  void note_message(Rank from) {
    Client& client = clients_[from];
    ++client.sent;
    client.handled.push_back(0);
    client.answered.push_back(0);
    expected_ += 2;
  }

  bool start_one_sided(Rank from, Rank to, Kind kind, uint32_t number) {
    const bool is_put = kind == Kind::kPut || kind == Kind::kPutSend;
    const bool is_copied = kind == Kind::kPutSend || draw(2) == 0;
    Slot slot = {1, kind, to, static_cast<uint32_t>(random_()), size(), 0, 0};
    slot.offset = is_put ? place_of(from, number) : draw(kSourceBytes - slot.bytes);
    Work work = one_sided(is_put ? Op::kPut : Op::kGet, from, to, slot.bytes, is_copied);
    work.cookie = number + 1;
    work.local = local(from, number);
    if (is_put) fill_pattern(work.local, slot.bytes, slot.seed);
    if (kind == Kind::kPutSend) {
      slot.owed = 2;
      work.op = Op::kPutSend;
      head_[0] = kOurs | clients_[from].sent;
      head_[1] = uint64_t{number + 1} << kSlotShift;
      work.head = head_;
      work.head_bytes = sizeof head_;
    }
    if (kind == Kind::kAdd) {
      slot.offset = kCounter;
      work.op = Op::kFetchOp;
      work.head = &kOne;
      work.head_bytes = sizeof kOne;
      work.local = &clients_[from].slots[number].old;
      work.local_key = kNoRegion;
      work.bytes = sizeof slot.old;
    }
    work.remote = hosts_[to].region.base + slot.offset;
    if (!post(from, work)) return false;
    clients_[from].slots[number] = slot;
    ++expected_;
    if (kind == Kind::kPutSend) note_message(from);
    return true;
  }
  uint64_t size() { return 1 + draw(draw(4) == 0 ? kBytesMax : 600); }

  void expect_put(Rank from, uint32_t number) {
    const Slot& slot = clients_[from].slots[number];
    EXPECT_TRUE(holds_pattern(memory(slot.peer, slot.offset), slot.bytes, slot.seed))
        << "a put of " << slot.bytes << " bytes from rank " << from << " to " << slot.peer;
  }
  /// Each add to the counter of this rank found another number of those before it.
  void expect_atomic(Rank rank) {
    std::vector<uint64_t>& sums = clients_[rank].sums;
    std::sort(sums.begin(), sums.end());
    for (uint64_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], i) << "adds to rank " << rank;
    uint64_t count;
    std::memcpy(&count, memory(rank, kCounter), sizeof count);
    EXPECT_EQ(count, sums.size()) << "adds to rank " << rank;
  }

  std::mt19937_64 random_;
  std::vector<Client> clients_;
  uint64_t expected_ = 0;
  uint64_t head_[2];
  std::byte payload_[kMediumMax];
};

}  // namespace pinwire
