#include "extended/api/ex/local_completion.h"

#include "core/base/check.h"
#include "core/base/log.h"
#include "extended/rma/sync.h"

namespace pinwire {
namespace {

bool is_event(const gex_Event_t* lc_opt) noexcept {
  return lc_opt != nullptr && lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_DEFER &&
         lc_opt != GEX_EVENT_GROUP;
}

}  // namespace

LocalCompletion::LocalCompletion(const char* call, gex_Event_t* lc_opt, Within within) noexcept
    : event_(is_event(lc_opt) ? lc_opt : nullptr) {
  const bool is_reply = within == Within::kReply;
  if (lc_opt == nullptr || lc_opt == GEX_EVENT_DEFER || (is_reply && lc_opt == GEX_EVENT_GROUP)) {
    fatal("%s takes GEX_EVENT_NOW, %sor the address of an event for its local completion (GX-104)",
          call, is_reply ? "" : "GEX_EVENT_GROUP ");
  }
  if (is_reply) return;
  if (event_ != nullptr) op_ = take_op();
  if (lc_opt == GEX_EVENT_GROUP) op_ = &implicit_ams();
}

bool LocalCompletion::settle(Sent sent) noexcept {
  dcheck(sent != Sent::kPending || op_ != nullptr, "a message is under way that nobody counts");
  if (sent == Sent::kPending) ++op_->started;
  if (event_ != nullptr) {
    const gex_Event_t event = op_ != nullptr ? handle_of(op_) : GEX_EVENT_INVALID;
    if (sent != Sent::kNothing) *event_ = event;  // else it stays as it is (GX-043)
  }
  return sent != Sent::kNothing;
}

}  // namespace pinwire
