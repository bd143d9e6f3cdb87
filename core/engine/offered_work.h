// The assertions of the caller's side of waist 1: the work that Engine::offer() hands to a driver
// keeps the contract of driver/work.h. Each driver, and driver/checked.h, asserts its own side.
#pragma once

#include "core/base/check.h"
#include "driver/driver.h"

namespace pinwire {

/// The bytes that the work moves, and the keys of their memory.
inline void check_offered_bytes(const Caps& caps, const Work& work) noexcept {
  const bool is_copied = (work.flags & kWorkCopied) != 0;
  const bool is_put = work.op == Op::kPut || work.op == Op::kPutSend;
  const bool moves = is_put || work.op == Op::kGet;
  dcheck(!moves || work.bytes <= caps.put_bytes_max, "a transfer that is not cut into pieces",
         work.bytes, caps.put_bytes_max);
  dcheck(!is_put || !is_copied || work.bytes <= caps.copied_bytes_max,
         "a put that is too large to be copied", work.bytes, caps.copied_bytes_max);
  dcheck(!moves || work.bytes <= caps.copied_bytes_max || caps.reaches(work.local_key),
         "a transfer from memory that the driver does not know", work.bytes);
  dcheck(work.op != Op::kGet || !is_copied, "a get that is copied", work.bytes);
  dcheck(work.op != Op::kSend || is_copied, "a message whose payload is not copied", work.bytes);
  dcheck(work.op != Op::kScatter || is_copied, "a list that is not copied", work.bytes);
  dcheck(work.op != Op::kScatter || work.bytes <= caps.scatter_bytes_max, "a list that is too long",
         work.bytes, caps.scatter_bytes_max);
}

inline void check_offered(const Caps& caps, const Work& work) noexcept {
  const bool is_message = work.op == Op::kSend || work.op == Op::kPutSend;
  const bool is_silent = (work.flags & kWorkSilent) != 0;
  dcheck(is_silent || work.cookie != 0, "the end of this work is reported to nobody", work.peer);
  dcheck(!is_message || work.head != nullptr, "a message without a head", work.peer);
  dcheck(!is_message || work.head_bytes != 0, "a message with an empty head", work.peer);
  dcheck(work.head_bytes <= kHeadBytesMax, "a head that is too long", work.head_bytes);
  dcheck(work.head_bytes % 8 == 0, "a head that ends within a word", work.head_bytes);
  dcheck((work.flags & kWorkLent) == 0 || work.op == Op::kSend, "a lent payload of no message",
         work.peer);
  dcheck((work.flags & kWorkFenced) == 0 || work.op == Op::kSend, "a fence of no message",
         work.peer);
  check_offered_bytes(caps, work);
}

}  // namespace pinwire
