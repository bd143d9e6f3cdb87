// Handles in debug builds. Of the library's own functions: a job of one node has no handle in
// flight.
#include <gtest/gtest.h>

#include <thread>

#include "extended/sync.h"

namespace pinwire {
namespace {

pinwire_op* started() {
  pinwire_op* op = take_op();
  op->started = 1;
  count_done(op->done);
  return op;
}

TEST(Handle, IsSynchronisedOnce_C1_297) {
  pinwire_op* op = started();
  wait_op(op);
  EXPECT_DEATH(wait_op(op), "a handle is synchronised that was synchronised before");
  EXPECT_DEATH(try_all(&op, 1), "a handle is synchronised that was synchronised before");
}

TEST(Handle, IsSynchronisedByItsThread_C1_297) {
  pinwire_op* op = started();
  EXPECT_DEATH(std::thread([op] { wait_op(op); }).join(), "by another thread than got it");
  wait_op(op);
}

}  // namespace
}  // namespace pinwire
