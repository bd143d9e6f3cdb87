// One-sided records of an accepted frame: puts, gets, atomics and their responses.
#include <cstring>

#include "driver/atomics.h"
#include "nicfw/lane/lane.h"

namespace pinwire {

/// The payload of the record at `placed_at` is where it belongs already.
void Lane::execute(Peer& peer, const std::byte* records, uint32_t bytes,
                   uint32_t placed_at) noexcept {
  for (uint32_t at = 0; at < bytes;) {
    Record record;
    const Reject bad = parse_record(records + at, bytes - at, record);
    check(bad == Reject::kNone, "a record changed after it was checked", static_cast<uint8_t>(bad));
    const std::byte* payload = at == placed_at ? nullptr : records + at + record.fields;
    switch (record.type) {
      case RecordType::kMessage:
        break;  // HeldMessages
      case RecordType::kPut:
        if (payload != nullptr) BodyHash::copy_plain(target_of(record), payload, record.bytes);
        counters_.add(Count::kRxPlacedBytes, record.bytes);
        break;
      case RecordType::kScatter:
        place_scattered(record, payload);
        break;
      case RecordType::kGet:
        record.type = RecordType::kGetData;
        owe(peer, record);
        counters_.add(Count::kGetsServed);
        break;
      case RecordType::kAtomic:
        execute_atomic(peer, record);
        break;
      case RecordType::kGetData:
        place_get_data(record, payload);
        break;
      case RecordType::kAtomicResult: {
        const Index index = ops_.find(record.op, rank_of(peer));
        if (index == kNoIndex) break;  // the same result twice in one frame
        if (void* local = ops_[index].work.local)
          std::memcpy(local, &record.operand, sizeof(uint64_t));
        ops_.finish(index, WorkStatus::kOk);
        break;
      }
      case RecordType::kRefusal:
        take_refusal(peer, record);
        break;
    }
    at += record_stride(record.fields, record.bytes);
  }
}

void Lane::execute_atomic(Peer& peer, const Record& record) noexcept {
  Record result{};
  result.type = RecordType::kAtomicResult;
  result.op = record.op;
  result.operand =
      apply_atomic(reinterpret_cast<uint64_t*>(record.address),
                   {static_cast<AtomicCode>(record.code), record.operand, record.compare});
  owe(peer, result);
  counters_.add(Count::kAtomicsServed);
}

void Lane::place_get_data(const Record& record, const std::byte* payload) noexcept {
  const auto index = static_cast<Index>(record.op & 0xffff);
  Operation& op = ops_[index];
  // Checked one by one, but records of one frame may together claim more than the get asked for.
  if (op.state != OpState::kActive || op.remaining < record.bytes) return;
  if (payload != nullptr) BodyHash::copy_plain(target_of(record), payload, record.bytes);
  counters_.add(Count::kRxPlacedBytes, record.bytes);
  op.remaining -= record.bytes;
  if (op.remaining == 0) ops_.finish(index, WorkStatus::kOk);
}

/// Takes an operation that is about to finish out of everything that still refers to it.
void Lane::forget_op(Peer& peer, Index op) noexcept {
  for (SendFlow& send : peer.send) {
    for (IndexRing* queue : {&send.ops.shorts, &send.ops.longs}) {
      IndexRing kept;
      while (!queue->empty()) {
        const Index index = queue->pop(ops_);
        if (index != op) kept.push(ops_, index);
      }
      *queue = kept;
    }
    if (send.window == kNoIndex) continue;
    for (uint32_t s = send.una; s != send.next; ++s) {
      const Index index = windows_[send.window].slot[s % kWindowFramesMax];
      if (index == kNoIndex) continue;
      SendSlot& slot = slots_[index];
      if (slot.fragment == op) slot.fragment = kNoIndex;
      Index* link = &slot.ops;
      while (*link != kNoIndex && *link != op) link = &ops_[*link].link;
      if (*link == op) *link = ops_[op].link;
    }
  }
}

void Lane::take_refusal(Peer& peer, const Record& record) noexcept {
  const Rank rank = rank_of(peer);
  const auto print = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  if (record.compare == 0) {
    nic_.failure.record(
        rank, WorkStatus::kRemoteAccess,
        "rank %u refused rank %u's access to %llu bytes at 0x%llx: no memory is pinned there "
        "under the key 0x%x",
        rank, nic_.info.rank, print(record.length), print(record.address), record.key);
  } else {
    nic_.failure.record(
        rank, WorkStatus::kRemoteAccess,
        "rank %u refused rank %u's access to %llu bytes at 0x%llx: outside its pinned region "
        "[0x%llx, 0x%llx) (or an atomic that is not 8-byte aligned)",
        rank, nic_.info.rank, print(record.length), print(record.address), print(record.operand),
        print(record.operand + record.compare));
  }
  const Index index = ops_.find(record.op, rank);
  if (index == kNoIndex) return;
  forget_op(peer, index);
  ops_.finish(index, WorkStatus::kRemoteAccess);
}

}  // namespace pinwire
