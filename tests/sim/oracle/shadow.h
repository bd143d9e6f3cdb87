// Shadow memory: what every rank's windows must hold. Puts that are under way never overlap; a byte
// that no put was writing while a get was under way must be read exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "driver/work.h"
#include "tests/sim/oracle/ledger.h"
#include "tests/sim/oracle/verdict.h"

namespace pinwire::sim {

class Shadow {
 public:
  Shadow(uint32_t ranks, uint64_t bytes_each, Verdict& verdict);

  uint64_t bytes_each() const noexcept { return bytes_each_; }
  std::span<const std::byte> image(Rank rank) const { return images_[rank]; }

  bool busy(Rank target, uint64_t offset, uint64_t bytes) const;
  /// A put begins; its number for end_put.
  uint64_t begin_put(Rank target, const PutRange& range);
  /// The driver says that the data is there.
  void end_put(uint64_t put);
  /// The driver did not take the put, and nobody will offer it again.
  void cancel_put(uint64_t put) { puts_.erase(put); }
  /// Nobody else may touch the range of an unfinished put: does `memory`, of its target, hold it?
  void check_put(uint64_t put, std::span<const std::byte> memory) const;

  uint64_t begin_get(Rank target, uint64_t offset, uint64_t bytes);
  void end_get(uint64_t get, std::span<const std::byte> got);
  void cancel_get(uint64_t get) { gets_.erase(get); }

  /// Compares a rank's memory with its image, but for bytes that unfinished puts may have written.
  void check_memory(Rank rank, std::span<const std::byte> memory) const;
  size_t unfinished() const noexcept { return puts_.size() + gets_.size(); }

 private:
  struct Put {
    Rank target;
    PutRange range;
  };
  struct Get {
    Rank target;
    uint64_t offset;
    std::vector<bool> uncertain;
  };
  static void blur(Get& get, const Put& put);

  Verdict& verdict_;
  uint64_t bytes_each_;
  std::vector<std::vector<std::byte>> images_;
  std::map<uint64_t, Put> puts_;
  std::map<uint64_t, Get> gets_;
  uint64_t next_ = 1;
};

}  // namespace pinwire::sim
