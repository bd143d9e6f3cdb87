#include "tests/sim/fabric/fabric.h"

#include <algorithm>
#include <utility>

#include "tests/sim/fabric/ether.h"
#include "tests/sim/oracle/repeats.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kArrives = uint64_t{1} << 32;  ///< stage: at the port; without it: at the switch
constexpr size_t kRecordedMax = 64;

}  // namespace

Fabric::Fabric(const Scenario& scenario, Schedule& schedule, Verdict& verdict)
    : scenario_(scenario),
      schedule_(schedule),
      verdict_(verdict),
      random_(scenario.seed ^ 0xfab),
      uplink_free_ns_(scenario.ranks),
      downlink_free_ns_(scenario.ranks),
      oversized_from_(scenario.ranks),
      start_ns_(schedule.now()) {
  for (Rank rank = 0; rank < scenario.ranks; ++rank) {
    ports_.push_back(std::make_unique<SimPort>(rank, scenario, schedule, verdict, *this, random_));
  }
}

LinkDice& Fabric::dice(Rank from, Rank to) {
  const uint64_t link = uint64_t{from} << 32 | to;
  return dice_.try_emplace(link, scenario_.faults, scenario_.asymmetric, random_).first->second;
}

bool Fabric::partitioned(Rank from, Rank to) const {
  const uint64_t time_ns = schedule_.now() - start_ns_;
  for (const Partition& partition : scenario_.partitions) {
    if (time_ns < partition.from_ns || time_ns >= partition.until_ns) continue;
    const bool from_inside = partition.island >> from % 64 & 1;
    const bool to_inside = partition.island >> to % 64 & 1;
    if (from_inside != to_inside && (from_inside || !partition.one_way)) return true;
  }
  return false;
}

bool Fabric::is_oversized(uint64_t bytes) const {
  if (scenario_.path_frame_bytes_max == 0 || bytes <= scenario_.path_frame_bytes_max) return false;
  const uint64_t time_ns = schedule_.now() - start_ns_;
  return time_ns >= scenario_.path_narrows_ns &&
         (scenario_.path_opens_ns == 0 || time_ns < scenario_.path_opens_ns);
}

/// How much longer than at first the path is now.
uint64_t Fabric::slower_ns() const {
  return schedule_.now() - start_ns_ < scenario_.path_slows_ns ? 0 : scenario_.path_slower_ns;
}

uint64_t Fabric::send(Rank from, const TxFrame& frame) {
  const uint64_t bytes = uint64_t{frame.head_bytes} + frame.body_bytes;
  ++counts_.sent;
  bytes_sent_ += bytes;
  last_sent_ns_ = schedule_.now();
  const uint64_t wire_ns = (bytes + 24) * 8 * 1'000'000'000 / scenario_.link_bits_per_s;
  uplink_free_ns_[from] = std::max(uplink_free_ns_[from], schedule_.now()) + wire_ns;
  const uint64_t departure_ns = uplink_free_ns_[from];
  const MacAddress mac = destination_of({frame.head, frame.head_bytes});
  const Rank to = rank_of(mac);
  if (to >= scenario_.ranks || mac != mac_of(to)) {
    verdict_.fail("rank %u sent a frame to nobody", from);
    return departure_ns;
  }
  const Fate fate = dice(from, to).roll(schedule_.now(), random_);
  const bool oversized = is_oversized(bytes);
  const bool cut_off = partitioned(from, to);
  if (verdict_.tracing()) {
    verdict_.trace(
        "wire %u -> %u %u+%u bytes%s%s%s%s%s", from, to, frame.head_bytes, frame.body_bytes,
        oversized ? " too long" : "", fate.copies == 0 ? " lost" : "", cut_off ? " cut off" : "",
        fate.copies == 2 ? " twice" : "",
        fate.copies > 0 && (fate.copy[0].corrupt || fate.copy[0].truncate) ? " damaged" : "");
  }
  counts_.oversized += oversized;
  oversized_from_[from] += oversized;
  counts_.partitioned += cut_off;
  counts_.lost += fate.copies == 0;
  counts_.duplicated += fate.copies == 2;
  for (uint32_t i = 0; i < fate.copies; ++i) counts_.detoured += fate.copy[i].detour;
  if (scenario_.hostile && fate.copies == 0) {
    std::vector<std::byte> whole(frame.head, frame.head + frame.head_bytes);
    whole.insert(whole.end(), frame.body, frame.body + frame.body_bytes);
    record(to, std::move(whole));
  }
  for (uint32_t i = 0; i < fate.copies && !cut_off && !oversized; ++i) {
    const uint32_t flight = launch(from, to, frame, fate.copy[i]);
    const bool is_first = i == 0 && !fate.copy[i].detour;  // the oracle knows of the detours
    flights_[flight].number = is_first ? counts_.sent : SimPort::Origin{}.number;
    schedule_.at(departure_ns + fate.copy[i].delay_ns + slower_ns(), *this, flight);
  }
  return departure_ns;
}

uint32_t Fabric::launch(Rank from, Rank to, const TxFrame& frame, const Copy& copy) {
  if (unused_flights_.empty()) {
    unused_flights_.push_back(static_cast<uint32_t>(flights_.size()));
    flights_.emplace_back();
  }
  const uint32_t index = unused_flights_.back();
  unused_flights_.pop_back();
  Flight& flight = flights_[index];
  flight.from = from;
  flight.to = to;
  flight.bytes.assign(frame.head, frame.head + frame.head_bytes);
  flight.body = frame.body;
  flight.body_bytes = frame.body_bytes;
  flight.body_key = frame.body_key;
  if (frame.body_key == 0) take_body(flight);
  flight.corrupt = copy.corrupt;
  flight.truncate = copy.truncate;
  flight.used = true;
  ++in_flight_;
  return index;
}

void Fabric::take_body(Flight& flight) {
  flight.bytes.insert(flight.bytes.end(), flight.body, flight.body + flight.body_bytes);
  flight.body_bytes = 0;
  flight.body_key = 0;
}

void Fabric::settle(Rank from, uint32_t key) {
  for (Flight& flight : flights_) {
    if (flight.used && flight.from == from && flight.body_key == key) take_body(flight);
  }
}

void Fabric::fire(uint64_t flight_and_stage) {
  const auto index = static_cast<uint32_t>(flight_and_stage);
  if ((flight_and_stage & kArrives) == 0) return leave_switch(index);
  arrive(flights_[index]);
  flights_[index].used = false;
  unused_flights_.push_back(index);
  --in_flight_;
}

void Fabric::leave_switch(uint32_t index) {
  Flight& flight = flights_[index];
  const uint64_t bits = (flight.bytes.size() + flight.body_bytes + 24) * 8;
  const uint64_t wire_ns = bits * 1'000'000'000 / scenario_.link_bits_per_s;
  uint64_t& free_ns = downlink_free_ns_[flight.to];
  const uint64_t queued_ns = free_ns > schedule_.now() ? free_ns - schedule_.now() : 0;
  const uint64_t queued_bytes = queued_ns * (scenario_.link_bits_per_s / 1'000'000) / 8'000;
  if (queued_bytes + bits / 8 > scenario_.switch_buffer_bytes) {
    ++counts_.overrun;
    flight.used = false;
    unused_flights_.push_back(index);
    --in_flight_;
    return;
  }
  free_ns = std::max(free_ns, schedule_.now()) + wire_ns;
  schedule_.at(free_ns, *this, index | kArrives);
}

void Fabric::arrive(Flight& flight) {
  take_body(flight);
  if (scenario_.checksum_offload) write_checksums(flight.bytes);
  if (flight.bytes.size() < kEtherBytesMin) {
    flight.bytes.resize(kEtherBytesMin, static_cast<std::byte>(random_.next()));
  }
  if (scenario_.hostile) record(flight.to, flight.bytes);
  if (flight.corrupt) flip_bits(flight.bytes, random_);
  if (flight.truncate) cut_tail(flight.bytes, random_);
  counts_.corrupted += flight.corrupt;
  counts_.truncated += flight.truncate;
  const bool taken = ports_[flight.to]->deliver(flight.bytes, {flight.from, flight.number});
  ++(taken ? counts_.delivered : counts_.unbuffered);
  if (taken && hook_ != nullptr) hook_(context_, flight.to);
}

void Fabric::note_full(uint64_t ns) { counts_.mute_timeouts += Repeats::timeouts_of(ns); }

void Fabric::record(Rank to, std::vector<std::byte> frame) {
  if (recorded_.size() >= kRecordedMax) recorded_.pop_front();
  recorded_.push_back({to, std::move(frame)});
}

void Fabric::inject(Rank to, std::span<const std::byte> frame) {
  ++counts_.injected;
  if (ports_[to]->deliver(frame, {}) && hook_ != nullptr) hook_(context_, to);
}

}  // namespace pinwire::sim
