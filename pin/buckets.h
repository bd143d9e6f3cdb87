// A driver's pinned memory of this rank, beyond what is pinned once and for all: buckets that peers
// hold, buckets that own transfers use, and pins for single transfers, kept for the next where the
// memory can be watched. All pinning on demand goes through here, so the budget and the statistics
// are those of one place.
//
// Any thread may call at any time after open(). Pinning is a system call, and a device's library
// allocates for it: what a miss costs, no hit does.
#pragma once

#include <cstdint>

#include "driver/driver.h"
#include "pin/kept.h"
#include "pin/lock.h"
#include "pin/owner_table.h"

namespace pinwire {

struct PinCounters {
  uint64_t pins = 0;
  uint64_t unpins = 0;
  uint64_t refusals = 0;  ///< by the device
  uint64_t hits = 0;      ///< own transfers that found their bucket pinned
  uint64_t misses = 0;
  uint64_t bounces = 0;  ///< pieces that were copied because their memory was not pinned
  uint64_t bytes = 0;    ///< pinned on demand, at present
  uint64_t bytes_max = 0;
  uint64_t kept_hits = 0;  ///< transfers that found their memory pinned since an earlier one
  uint64_t kept_misses = 0;
  uint64_t kept_stale = 0;      ///< pins dropped as their memory was unmapped
  uint64_t kept_evictions = 0;  ///< pins dropped as others needed the room
  uint64_t kept_bytes = 0;      ///< at present
  uint64_t kept_bytes_max = 0;
  uint64_t unsettled = 0;    ///< transfers whose memory others were just unmapping
  uint64_t unwatchable = 0;  ///< transfers whose memory cannot be watched
};

class Buckets {
 public:
  static constexpr uint32_t kNone = OwnerTable::kNone;

  /// `base`, `bytes`: where buckets lie; pins for one transfer may lie anywhere.
  void open(Driver& driver, const Shares& shares, uint32_t rank_count, uint64_t base,
            uint64_t bytes);
  /// After open(): pins for single transfers are kept.
  void keep(Watch& watch) { kept_.open(watch); }
  const Shares& shares() const noexcept { return table_.shares(); }

  /// For a peer, which holds it until it gives it back.
  enum class Answer : uint8_t { kGranted, kRefused, kMalformed };
  struct Granted {
    uint32_t index = kNone;
    uint32_t key = kNoRegion;
    uint32_t from = 0;  ///< offsets in the bucket: what is pinned of it
    uint32_t to = 0;
  };
  Answer grant(Rank peer, uint64_t number, uint32_t gives_back, Granted& granted) noexcept;

  /// The bucket around own memory for a transfer, until done(). `pins`: also if it must be pinned
  /// first. An index of kNone: it is not to be had; copy.
  struct Used {
    uint32_t index = kNone;
    uint32_t key = kNoRegion;
    uint64_t end = 0;
  };
  bool covers(const void* address) const noexcept {
    const auto at = reinterpret_cast<uint64_t>(address);
    return at >= base_ && at < end_;
  }
  Used use(const void* address, bool pins) noexcept;
  void done(uint32_t index) noexcept;

  /// Memory that is pinned until unpin_alone(). A region of no bytes: the device, or the budget,
  /// has no more. It may reach as far as the pages do.
  struct Alone {
    Region region{};
    uint32_t kept = Kept::kNone;
  };
  Alone pin_alone(void* address, uint64_t bytes) noexcept;
  void unpin_alone(const Alone& alone) noexcept;

  /// Memory of another device (Driver::pin_device), which no budget counts.
  Result<Region> pin_device(void* base, uint64_t bytes, int dmabuf);
  void unpin_device(const Region& region) noexcept;

  void count_bounce() noexcept;
  PinCounters counters() const noexcept;

 private:
  friend struct PinModel;  // tests/models/worlds/exchange_world.h

  uint32_t pin(uint64_t number) noexcept;
  Region pin_evicting(uint64_t address, uint64_t bytes) noexcept;
  void unpin(const Region& region) noexcept;
  void count_pin(uint64_t bytes) noexcept;
  bool evict_one() noexcept;
  Alone use_kept(uint64_t from, uint64_t to) noexcept;
  bool make_room_alone(uint64_t bytes) noexcept;
  bool evict_kept() noexcept;
  void unpin_kept(const Region& region) noexcept;
  void unpin_stale() noexcept;

  mutable PinLock lock_;
  Driver* driver_ = nullptr;
  OwnerTable table_;
  uint64_t base_ = 0;
  uint64_t end_ = 0;
  Kept kept_;
  uint64_t alone_bytes_ = 0;  // of pins for single transfers, those that are kept among them
  uint64_t alone_bytes_max_ = 0;
  bool has_told_ = false;  // that the device refused
  PinCounters counters_;
};

}  // namespace pinwire
