#include "tests/sim/fabric/ideal_driver.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/base/bits.h"
#include "tests/sim/client/atomics.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kDelayNsMax = 5'000;
constexpr size_t kPendingMax = 4096;

std::byte* at(uint64_t address) {
  return reinterpret_cast<std::byte*>(static_cast<uintptr_t>(address));
}

}  // namespace

void IdealNetwork::carry_out_due() {
  while (!pending_.empty() && pending_.begin()->first <= schedule_.now()) {
    auto due = pending_.extract(pending_.begin());
    carry_out(due.mapped());
  }
}

/// When the last message of the same stream happens.
uint64_t IdealNetwork::last_ns(const Pending& like) const {
  uint64_t last_ns = 0;
  for (const auto& [at_ns, other] : pending_) {
    if (other.from == like.from && other.work.peer == like.work.peer) last_ns = at_ns;
  }
  return last_ns;
}

void IdealNetwork::carry_out(Pending& pending) {
  const Work& work = pending.work;
  IdealDriver& from = *drivers_[pending.from];
  IdealDriver& to = *drivers_[work.peer];
  const auto* const payload = static_cast<const std::byte*>(
      (work.flags & kWorkCopied) != 0 ? pending.copy.data() : work.local);
  if (work.op != Op::kSend) {
    const Region& region = to.region_;
    if (work.remote_key != region.remote_key ||
        !inside(work.remote, work.bytes, region.base, region.bytes)) {
      return from.refuse(work);
    }
  }
  if (work.op == Op::kPut || work.op == Op::kPutSend) {
    std::memcpy(at(work.remote), payload, work.bytes);
  } else if (work.op == Op::kGet) {
    std::memcpy(work.local, at(work.remote), work.bytes);
  } else if (work.op != Op::kSend) {
    AtomicOperands operands;
    std::memcpy(&operands, pending.head.data(), sizeof operands);
    uint64_t value;
    std::memcpy(&value, at(work.remote), sizeof value);
    std::memcpy(work.local, &value, sizeof value);
    value = apply(operands, value);
    std::memcpy(at(work.remote), &value, sizeof value);
  }
  if (work.op == Op::kSend || work.op == Op::kPutSend) {
    const uint64_t body = work.op == Op::kSend ? work.bytes : 0;
    auto& buffer = to.buffers_[to.next_buffer_];
    buffer.resize(32 + pending.head.size() + body);
    auto* const data = reinterpret_cast<std::byte*>(
        align_up(reinterpret_cast<uintptr_t>(buffer.data()), uintptr_t{16}) + 8);
    std::memcpy(data, pending.head.data(), pending.head.size());
    if (body > 0) std::memcpy(data + pending.head.size(), payload, body);
    to.inbox_.push_back({data, static_cast<uint32_t>(pending.head.size() + body), pending.from,
                         to.next_buffer_++, work.cls});
  }
  if ((work.flags & kWorkSilent) == 0) from.done_.push_back({work.cookie, WorkStatus::kOk});
}

Caps IdealDriver::caps() const noexcept {
  return {.send_bytes_max = 65536,
          .put_bytes_max = 1 << 20,
          .copied_bytes_max = 65536,
          .lent_bytes_max = 65536 - kHeadBytesMax,
          .atomic64 = kAllAtomics,
          .in_place_rx = true};
}

Status IdealDriver::open(const OpenInfo&) {
  network_.drivers_[rank_] = this;
  return success();
}

Result<Region> IdealDriver::pin(void* base, uint64_t bytes, int, uint64_t) {
  region_ = {reinterpret_cast<uintptr_t>(base), bytes, 1, 77 + rank_};
  return region_;
}

uint32_t IdealDriver::post(uint32_t, std::span<const Work> work) noexcept {
  uint32_t accepted = 0;
  for (; accepted < work.size() && network_.pending_.size() < kPendingMax; ++accepted) {
    const Work& one = work[accepted];
    const auto* const head = static_cast<const std::byte*>(one.head);
    IdealNetwork::Pending pending{rank_, one, {}, {}};
    if (one.op != Op::kPut && one.op != Op::kGet) pending.head.assign(head, head + one.head_bytes);
    if ((one.flags & kWorkCopied) != 0) {
      const auto* const payload = static_cast<const std::byte*>(one.local);
      pending.copy.assign(payload, payload + one.bytes);
    }
    uint64_t at_ns = network_.schedule_.now() + network_.random_.below(kDelayNsMax);
    if ((one.flags & kWorkFenced) != 0) at_ns = std::max(at_ns, network_.last_ns(pending));
    if ((one.flags & kWorkLent) != 0) lent_.erase(one.lent);
    network_.pending_.emplace(at_ns, std::move(pending));
  }
  return accepted;
}

Lent IdealDriver::lend(uint32_t, Rank, uint64_t) noexcept {
  for (uint64_t name = 1; name <= kLentBuffers; ++name) {
    const auto [entry, is_free] = lent_.try_emplace(name);
    if (!is_free) continue;
    entry->second.resize(kLentBytes + 16);
    auto* const payload = reinterpret_cast<std::byte*>(
        align_up(reinterpret_cast<uintptr_t>(entry->second.data()), uintptr_t{16}));
    return {payload, kLentBytes, name};
  }
  return {};
}

void IdealDriver::take_back(uint32_t, const Lent& lent) noexcept { lent_.erase(lent.name); }

uint32_t IdealDriver::done(uint32_t, std::span<Done> out) noexcept {
  network_.carry_out_due();
  const auto count = static_cast<uint32_t>(std::min(out.size(), done_.size()));
  std::copy_n(done_.begin(), count, out.begin());
  done_.erase(done_.begin(), done_.begin() + count);
  return count;
}

uint32_t IdealDriver::recv(uint32_t, RecvFilter filter, std::span<Recv> out) noexcept {
  network_.carry_out_due();
  uint32_t count = 0;
  for (auto next = inbox_.begin(); next != inbox_.end() && count < out.size();) {
    const bool wanted = filter == RecvFilter::kAll || next->cls == MessageClass::kReply;
    if (wanted) out[count++] = *next;
    next = wanted ? inbox_.erase(next) : next + 1;
  }
  return count;
}

void IdealDriver::give_back(uint32_t, std::span<const Recv> buffers) noexcept {
  for (const Recv& recv : buffers) buffers_.erase(recv.buffer);
}

void IdealDriver::refuse(const Work& work) {
  failed_ = true;
  failure_ = {work.peer, WorkStatus::kRemoteAccess, {}};
  std::snprintf(failure_.sentence, sizeof failure_.sentence,
                "rank %u accessed %#lx + %lu of rank %u, outside its pinned memory", rank_,
                work.remote, work.bytes, work.peer);
  done_.push_back({work.cookie, WorkStatus::kRemoteAccess});
}

}  // namespace pinwire::sim
