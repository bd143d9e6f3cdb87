// A Driver that breaks one promise of another's, once: what the oracle must catch.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "driver/forwarding.h"

namespace pinwire::sim {

enum class Break : uint8_t {
  kNothing,
  kDropMessage,
  kDuplicateMessage,
  kAlterMessage,
  kReroute,     ///< a message under another peer's name
  kChangeHeld,  ///< bytes change while the receiver holds the buffer
  kRequestAsReply,
  kDropDone,
  kDuplicateDone,
  kEarlyDone,  ///< before the operation has happened
  kLosePut,    ///< reported done, never carried out
  kTearPut,    ///< its last byte is missing
  kRepeatPut,  ///< carried out again, later
  kStrayPut,   ///< it writes beside its range too
  kAlterGet,
  kRepeatAtomic,
  kSkipAtomic,  ///< with a result, but without the effect
  kMessageBeforePut,
  kPassFence,       ///< a fenced message goes as a plain one
  kTakeRefused,     ///< an operation is refused, and done all the same
  kForgeMessage,    ///< a message arrives that nobody sent
  kDeclareDead,     ///< a peer that polls is taken for dead
  kNeverDrained,    ///< something waits for ever, and holds up the exit
  kKeepLent,        ///< memory that was lent never comes back
  kDelayOperation,  ///< one operation comes much later than all that were posted after it
  kHoldRequests,  ///< requests wait long, as behind a handler that does not return; replies do not
  kRepeatInVain,  ///< from then on each operation is sent twice
  kCount,
};
const char* break_name(Break what) noexcept;

class BrokenDriver final : public ForwardingDriver {
 public:
  /// Breaks its promise at the `nth` occasion.
  BrokenDriver(std::unique_ptr<Driver> whole, Break what, uint32_t nth)
      : ForwardingDriver(*whole), whole_(std::move(whole)), what_(what), left_(nth) {}

  const char* name() const noexcept override { return "broken"; }
  uint32_t post(uint32_t lane, std::span<const Work> work) noexcept override;
  uint32_t done(uint32_t lane, std::span<Done> out) noexcept override;
  uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept override;
  void give_back(uint32_t lane, std::span<const Recv> buffers) noexcept override;
  void take_back(uint32_t lane, const Lent& lent) noexcept override;
  bool drained(uint32_t lane) const noexcept override;
  const Failure* failure() const noexcept override;
  bool idle(uint32_t lane) const noexcept override { return whole_->idle(lane) && early_.empty(); }

  void stats(StatSink& sink) const noexcept override;

  bool broken() const noexcept { return broken_; }

 private:
  /// Is this the occasion?
  bool strike(Break what) noexcept;
  uint32_t post_one(uint32_t lane, Work work) noexcept;

  std::unique_ptr<Driver> whole_;
  Break what_;
  uint32_t left_;
  bool broken_ = false;
  std::deque<Done> early_;
  uint64_t swallowed_cookie_ = 0;
  std::byte* held_ = nullptr;     ///< to be changed at the next call
  std::byte* altered_ = nullptr;  ///< to be changed when `altered_cookie_` is done
  uint64_t altered_cookie_ = 0;
  Work repeated_{};
  std::vector<std::byte> repeat_;
  uint32_t repeat_in_posts_ = 0;
  std::array<std::byte, 8> scratch_{};
  Work delayed_{};
  uint32_t delay_polls_ = 0;
  uint32_t hold_polls_ = 0;
  uint64_t repeats_ = 0;
  Failure dead_{0, WorkStatus::kUnreachable, "a peer that polls is taken for dead"};
};

}  // namespace pinwire::sim
