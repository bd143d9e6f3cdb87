#include "tests/sim/fabric/broken_driver.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace pinwire::sim {
namespace {

constexpr std::byte kFlip{0x40};
constexpr uint32_t kRepeatAfterPosts = 100;
constexpr uint32_t kDelayPolls = 20'000;

bool adds(const Work& work) {
  if (work.op != Op::kFetchOp) return false;
  AtomicOperands operands;
  std::memcpy(&operands, work.head, sizeof operands);
  return operands.code == AtomicCode::kAdd;
}

}  // namespace

const char* break_name(Break what) noexcept {
  constexpr std::array<const char*, static_cast<size_t>(Break::kCount)> kNames = {
      "nothing",         "drop_message",       "duplicate_message", "alter_message",
      "reroute",         "change_held",        "request_as_reply",  "drop_done",
      "duplicate_done",  "early_done",         "lose_put",          "tear_put",
      "repeat_put",      "stray_put",          "alter_get",         "repeat_atomic",
      "skip_atomic",     "message_before_put", "pass_fence",        "take_refused",
      "forge_message",   "declare_dead",       "never_drained",     "keep_lent",
      "delay_operation", "hold_requests",      "repeat_in_vain"};
  return kNames[static_cast<size_t>(what)];
}

bool BrokenDriver::strike(Break what) noexcept {
  if (what != what_ || broken_ || --left_ > 0) return false;
  return broken_ = true;
}

uint32_t BrokenDriver::post(uint32_t lane, std::span<const Work> work) noexcept {
  if (held_ != nullptr) *std::exchange(held_, nullptr) ^= kFlip;
  if (!repeat_.empty() && --repeat_in_posts_ == 0) {
    repeated_.local = repeat_.data();
    whole_->post(lane, {&repeated_, 1});
  }
  uint32_t accepted = 0;
  while (accepted < work.size() && post_one(lane, work[accepted]) == 1) ++accepted;
  return accepted;
}

uint32_t BrokenDriver::post_one(uint32_t lane, Work work) noexcept {
  const bool put = work.op == Op::kPut;
  const bool lent = (work.flags & kWorkCopied) == 0;
  std::array<std::byte, sizeof(AtomicOperands)> head;
  if (put && lent && strike(Break::kEarlyDone)) {
    early_.push_back({work.cookie, WorkStatus::kOk});
    swallowed_cookie_ = work.cookie;
  } else if (put && strike(Break::kLosePut)) {
    early_.push_back({work.cookie, WorkStatus::kOk});
    return 1;
  } else if (put && work.bytes > 1 && strike(Break::kTearPut)) {
    --work.bytes;
  } else if (put && strike(Break::kStrayPut)) {
    ++work.bytes;
  } else if (put && strike(Break::kRepeatPut)) {
    const auto* const payload = static_cast<const std::byte*>(work.local);
    repeat_.assign(payload, payload + work.bytes);
    repeated_ = work;
    repeated_.flags |= kWorkCopied | kWorkSilent;
    repeated_.local_key = kNoRegion;
    repeat_in_posts_ = kRepeatAfterPosts;
  } else if (work.op == Op::kGet && strike(Break::kAlterGet)) {
    altered_cookie_ = work.cookie;
    altered_ = static_cast<std::byte*>(work.local);
  } else if (adds(work) && strike(Break::kRepeatAtomic)) {
    Work again = work;
    again.flags |= kWorkSilent;
    again.local = scratch_.data();
    again.local_key = kNoRegion;
    whole_->post(lane, {&again, 1});
  } else if (adds(work) && strike(Break::kSkipAtomic)) {
    const AtomicOperands read{AtomicCode::kGet, 0, 0};
    std::memcpy(head.data(), &read, sizeof read);
    work.head = head.data();
  } else if (work.op == Op::kPutSend && strike(Break::kMessageBeforePut)) {
    work.op = Op::kSend;
    work.bytes = 0;
  } else if ((work.flags & kWorkFenced) != 0 && strike(Break::kPassFence)) {
    work.flags &= static_cast<uint8_t>(~kWorkFenced);
  } else if (work.op == Op::kSend && strike(Break::kTakeRefused)) {
    whole_->post(lane, {&work, 1});
    return 0;
  } else if (put && (work.flags & kWorkCopied) == 0 && strike(Break::kDelayOperation)) {
    delayed_ = work;
    delay_polls_ = kDelayPolls;
    return 1;
  } else {
    strike(Break::kNeverDrained);
    strike(Break::kDeclareDead);
    strike(Break::kRepeatInVain);
  }
  if (broken_ && what_ == Break::kRepeatInVain) ++repeats_;
  return whole_->post(lane, {&work, 1});
}

void BrokenDriver::give_back(uint32_t lane, std::span<const Recv> buffers) noexcept {
  for (const Recv& recv : buffers) {
    if (held_ == &recv.data[recv.bytes - 1]) held_ = nullptr;
  }
  whole_->give_back(lane, buffers);
}

uint32_t BrokenDriver::done(uint32_t lane, std::span<Done> out) noexcept {
  if (held_ != nullptr) *std::exchange(held_, nullptr) ^= kFlip;
  uint32_t count = 0;
  for (; count < out.size() && !early_.empty(); early_.pop_front()) out[count++] = early_.front();
  while (count < out.size()) {
    Done one;
    if (whole_->done(lane, {&one, 1}) == 0) break;
    if (one.cookie == altered_cookie_ && altered_ != nullptr) {
      *std::exchange(altered_, nullptr) ^= kFlip;
    }
    if (one.cookie == swallowed_cookie_ && broken_ && what_ == Break::kEarlyDone) continue;
    if (strike(Break::kDropDone)) continue;
    if (strike(Break::kDuplicateDone)) early_.push_back(one);
    out[count++] = one;
  }
  return count;
}

void BrokenDriver::take_back(uint32_t lane, const Lent& lent) noexcept {
  if (!strike(Break::kKeepLent)) whole_->take_back(lane, lent);
}

bool BrokenDriver::drained(uint32_t lane) const noexcept {
  return whole_->drained(lane) && !(broken_ && what_ == Break::kNeverDrained);
}

void BrokenDriver::stats(StatSink& sink) const noexcept {
  whole_->stats(sink);
  if (what_ == Break::kRepeatInVain) sink.stat("retransmits", repeats_);
}

const Failure* BrokenDriver::failure() const noexcept {
  return broken_ && what_ == Break::kDeclareDead ? &dead_ : whole_->failure();
}

uint32_t BrokenDriver::recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept {
  uint32_t count = 0;
  if (delay_polls_ > 0 && --delay_polls_ == 0) whole_->post(lane, {&delayed_, 1});
  if (hold_polls_ > 0) {
    --hold_polls_;
    filter = RecvFilter::kRepliesOnly;
  }
  while (count < out.size()) {
    Recv& one = out[count];
    if (whole_->recv(lane, filter, {&one, 1}) == 0) break;
    ++count;
    if (strike(Break::kDropMessage)) {
      whole_->give_back(lane, {&one, 1});
      --count;
    } else if (strike(Break::kAlterMessage)) {
      one.data[one.bytes - 1] ^= kFlip;
    } else if (strike(Break::kReroute)) {
      ++one.peer;
    } else if (strike(Break::kChangeHeld)) {
      held_ = &one.data[one.bytes - 1];
    } else if (one.bytes > sizeof(uint64_t) && strike(Break::kForgeMessage)) {
      one.data[sizeof(uint64_t) / 2] ^= kFlip;  // a number that no message bears
    } else if (one.cls == MessageClass::kRequest && strike(Break::kRequestAsReply)) {
      one.cls = MessageClass::kReply;
    } else if (one.cls == MessageClass::kRequest && strike(Break::kHoldRequests)) {
      hold_polls_ = kDelayPolls;
      break;
    } else if (count < out.size() && strike(Break::kDuplicateMessage)) {
      out[count++] = one;
    }
  }
  return count;
}

}  // namespace pinwire::sim
