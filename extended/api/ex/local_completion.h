// The local completion of an active message, as its caller wants to learn of it (GX-104): at
// return, by an event, or with the thread's implicit operations.
#pragma once

#include "am/message/call.h"
#include "am/message/done_count.h"
#include "core/api_types.h"
#include "extended/rma/ops.h"

namespace pinwire {

enum class Within : uint8_t { kRequest, kReply };

class LocalCompletion {
 public:
  /// Fatal: an `lc_opt` that such a message does not take.
  LocalCompletion(const char* call, gex_Event_t* lc_opt, Within within) noexcept;

  /// The count that the local completion of the message may raise; nullptr: the source has to be
  /// free at return. Replies have none: a handler holds the lane that would report the completion,
  /// and no thread may wait for it there.
  DoneCount* count() const noexcept { return op_ != nullptr ? &op_->done : nullptr; }

  /// Once the message is sent, or not; writes the event if it is. Returns whether it is.
  bool settle(Sent sent) noexcept;
  bool settle(bool is_sent) noexcept { return settle(is_sent ? Sent::kAll : Sent::kNothing); }

 private:
  gex_Event_t* const event_;  ///< to be written; nullptr: none
  pinwire_op* op_ = nullptr;
};

}  // namespace pinwire
