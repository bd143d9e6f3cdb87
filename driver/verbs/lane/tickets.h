// The memory of signalled work until its completion comes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/check.h"
#include "driver/verbs/device/buffer_pool.h"

namespace pinwire::verbs {

struct Link;

/// The consequence of a completion.
enum class After : uint8_t {
  kNothing,
  kDone,     ///< the caller is owed one
  kMessage,  ///< that of `message`, which waited for it
  kQuiet,    ///< nothing; it was only asked for, by a request without data
};

struct Ticket {
  static constexpr uint32_t kNone = ~0u;
  Link* link = nullptr;
  uint64_t cookie = 0;
  std::byte* copy_to = nullptr;  ///< of a get or atomic through a buffer
  uint32_t copy_from = 0;        ///< likewise: offset in the buffer
  uint32_t copy_bytes = 0;       ///< likewise; or of a message that waits in its buffer
  uint32_t covers = 0;           ///< requests on the link that end with this one
  uint32_t buffer = BufferPool::kNone;
  BufferPool* pool = nullptr;
  uint32_t message = kNone;  ///< the ticket of the message that waits
  After after = After::kNothing;
};

class Tickets {
 public:
  void open(uint32_t count) {
    check(all_.empty(), "tickets are made twice", count);
    all_.resize(count);
    free_.reserve(count);
    for (uint32_t i = count; i != 0; --i) free_.push_back(i - 1);
  }
  /// There is one: see free_count().
  uint32_t take() noexcept {
    check(!free_.empty(), "no ticket left");
    const uint32_t index = free_.back();
    free_.pop_back();
    all_[index] = Ticket{};
    return index;
  }
  void give(uint32_t index) noexcept {
    dcheck(index < all_.size(), "a ticket is given back that there is none of", index);
    dcheck(free_.size() < all_.size(), "more tickets are given back than were taken", index);
    free_.push_back(index);
  }
  Ticket& at(uint32_t index) noexcept {
    dcheck(index < all_.size(), "no such ticket", index);
    return all_[index];
  }
  size_t free_count() const noexcept { return free_.size(); }
  size_t in_use() const noexcept { return all_.size() - free_.size(); }

 private:
  std::vector<Ticket> all_;
  std::vector<uint32_t> free_;
};

}  // namespace pinwire::verbs
