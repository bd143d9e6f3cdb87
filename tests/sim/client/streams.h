// Streams of puts, gets and messages between ranks over the simulated fabric: what congestion
// control makes of them, and how long operations wait beside others, on virtual time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/sim/fabric/fabric.h"

namespace pinwire::sim {

/// One rank that puts to another, gets from it or sends it requests, as fast as it may.
struct Stream {
  Rank from;
  Rank to;
  uint64_t bytes = 64 * 1024;  ///< of each operation
  uint32_t depth = 64;         ///< operations under way; 1: each is timed
  uint64_t start_ns = 0;
  uint64_t end_ns = ~uint64_t{0};
  uint64_t after_poll_ns = 0;  ///< its rank posts so long after each poll
  Op op = Op::kPut;
  uint8_t flags = 0;  ///< kWorkCopied
  MessageClass cls = MessageClass::kRequest;
};

class Streams final : public EventTarget {
 public:
  Streams(const Scenario& scenario, std::vector<Stream> streams);
  ~Streams();

  void run(uint64_t ns);
  void fire(uint64_t rank) override;
  /// From now on the rank polls once in `ns`.
  void set_poll(Rank rank, uint64_t ns) { poll_ns_[rank] = ns; }
  /// From now on it takes only such messages.
  void set_filter(Rank rank, RecvFilter filter) { filters_[rank] = filter; }

  /// How long each operation of a stream of depth 1 took, from when it was wanted; in order.
  const std::vector<uint64_t>& times_ns(size_t stream) const { return times_ns_[stream]; }
  /// Bytes that each stream has moved since the last call of mark().
  std::vector<uint64_t> shares() const;
  void mark();
  /// The part of the link that all streams took since mark(), with headers and gaps between frames.
  double link_share() const;
  double gbit_per_s() const;
  /// Jain's index of the shares since then.
  double jain() const;
  uint64_t stat(Rank rank, const std::string& name) const;
  uint64_t sum(const std::string& name) const;
  const FabricCounts& counts() const { return fabric_.counts(); }

 private:
  void post(uint32_t stream);
  bool post_one(uint32_t stream);

  Scenario scenario_;
  Schedule schedule_;
  Verdict verdict_{schedule_};
  Fabric fabric_{scenario_, schedule_, verdict_};
  std::vector<Stream> streams_;
  std::vector<uint64_t> poll_ns_;
  std::vector<RecvFilter> filters_;  ///< of each rank
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::unique_ptr<Driver>> nics_;
  std::vector<Region> regions_;
  std::vector<std::vector<uint32_t>> streams_of_;  ///< of each rank
  std::vector<uint64_t> posted_;
  std::vector<uint64_t> done_;
  std::vector<uint64_t> marked_;
  std::vector<uint64_t> wanted_ns_;  ///< of the operation under way; 0: none
  std::vector<std::vector<uint64_t>> times_ns_;
  uint64_t start_ns_ = 0;
  uint64_t marked_ns_ = 0;
};

/// 100 Gb/s, a base round trip of 10 us, 1 MB at each output of the switch.
Scenario congestion_network(uint32_t ranks, uint32_t frame_bytes);

}  // namespace pinwire::sim
