// A collective operation in progress: a script that client threads go on with whenever something
// has arrived for it (Member), between two barriers if it wants them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "am/message/done_count.h"
#include "core/base/check.h"
#include "extended/coll/member/member.h"
#include "extended/coll/operation/reduction.h"
#include "extended/rma/ops.h"

namespace pinwire {

/// Data offered, until it is pulled.
struct Outbound {
  const std::byte* from = nullptr;
  size_t bytes = 0;
  std::atomic<size_t> left{0};
};

/// Data that is on its way into place.
struct Inbound {
  std::byte* to = nullptr;
  size_t bytes = 0;
  bool is_begun = false;
  bool is_done = false;
  bool is_get = false;
  std::atomic<size_t> left{0};
  pinwire_op get{};
};

/// Memory of an operation's own; what is small is kept for the next one.
class Scratch {
 public:
  std::byte* reserve(size_t bytes) noexcept {
    if (bytes > capacity_) {
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      capacity_ = bytes;
    }
    return memory_.get();
  }
  void release_large() noexcept {
    constexpr size_t kKeptBytesMax = 65536;
    if (capacity_ <= kKeptBytesMax) return;
    memory_.reset();
    capacity_ = 0;
  }
  /// `offset`: within what was reserved, or its end.
  std::byte* at(size_t offset) const noexcept {
    dcheck(offset <= capacity_, "a place behind the scratch", offset, capacity_);
    return memory_.get() + offset;
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  size_t capacity_ = 0;
};

struct StreamSet;
struct Pipeline;
struct PipelineDelete {
  void operator()(Pipeline* pipeline) const noexcept;
};

/// Memory that an operation needs while it is at work. Operations that wait for their turn have
/// none, so there are no more of these than the windows of the teams have operations.
struct Workspace {
  Scratch scratch;
  /// The first operation that goes in pieces (pipeline.h) makes it; it is kept for later ones.
  std::unique_ptr<Pipeline, PipelineDelete> pipeline;
  Workspace* next = nullptr;  ///< of those that are kept
};

struct Collective {
  /// True: all is sent that it has to send, and all has arrived. Goes on from `phase` and `round`.
  using Script = bool (*)(Collective& c) noexcept;
  enum class Stage : uint8_t { kBefore, kScript, kAfter };

  Member* member = nullptr;
  uint64_t number = 0;
  Script script = nullptr;
  Collective* next = nullptr;
  DoneCount* done = nullptr;

  Stage stage = Stage::kBefore;
  bool syncs_before = false;  ///< a barrier first
  bool syncs_after = false;   ///< and at the end
  bool is_live = false;       ///< in the window
  uint32_t phase = 0;
  uint32_t round = 0;
  std::byte* so_far = nullptr;  ///< of a reduction: the vector of what has come

  // The arguments of the client's call.
  Rank root = 0;
  void* dst = nullptr;
  const void* src = nullptr;
  size_t bytes = 0;
  const uint64_t* sizes = nullptr;  ///< of every member's contribution; nullptr: `bytes` each
  Reduction reduction{};

  Workspace* workspace = nullptr;  ///< while it is in the window
  uint32_t sends = 0;
  Outbound outbound[kDataMax];
  Inbound inbound[kDataMax];

  std::atomic<StreamSet*> running_streams{nullptr};  ///< what handlers find
};

}  // namespace pinwire
