// Handles in debug builds. They test the library's own functions: a job of one node has no handle
// in flight.
#undef GASNET_SEQ  // core/api_types.h chooses for the library's own view of its headers
#undef GASNET_PAR

#include <gtest/gtest.h>

#include <thread>

#include "am/handlers/dispatch.h"
#include "am/handlers/handlers.h"
#include "am/message/done_count.h"
#include "am/message/tracked.h"
#include "extended/atomics/domain.h"
#include "extended/checks/usage.h"
#include "extended/rma/sync.h"
#include "extended/state/objects.h"

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
  EXPECT_DEATH(wait_op(op), "that was synchronised before .C1-297, thread ");
  EXPECT_DEATH(try_all(&op, 1), "a handle is synchronised that was synchronised before");
}

TEST(Handle, IsSynchronisedByItsThread_C1_297) {
  pinwire_op* op = started();
  EXPECT_DEATH(std::thread([op] { wait_op(op); }).join(),
               "by another thread than got it.*C1-297, thread ");
  wait_op(op);
}

pinwire_value_op* started_value() {
  pinwire_value_op* op = thread_ops().value_ops.take();
  op->op.started = 1;
  op->op.done.store(1);
  return op;
}

TEST(Handle, OfAValueIsSynchronisedOnceByItsThread_C1_297) {
  pinwire_value_op* op = started_value();
  EXPECT_DEATH(std::thread([op] { check_value_handle(op); }).join(),
               "by another thread than got it");
  check_value_handle(op);
  free_value_op(op);
  EXPECT_DEATH(check_value_handle(op), "a handle is synchronised that was synchronised before");
}

TEST(Handle, ThatIsLeftIsToldOf_C1_297) {
  pinwire_op* op = started();
  pinwire_value_op* value = started_value();
  testing::internal::CaptureStderr();
  warn_of_leaks();
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "the job ends with 2 handle(s) of this thread never synchronised [C1-297, thread "),
            std::string::npos);
  wait_op(op);
  free_value_op(value);
  testing::internal::CaptureStderr();
  warn_of_leaks();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Domain, IsNotEndedWhileOperationsAreUnderWay_GX_156) {
  pinwire_tm team;
  gex_AD_t ad = GEX_AD_INVALID;
  gex_AD_Create(&ad, &team, GEX_DT_U64, GEX_OP_FADD, 0);
  Tracked* tracked = take_tracked();
  pinwire_op* op = take_op();
  op->started = 1;
  ad->under_way = 1;  // as start_atomic() counts
  tracked->cookie = cookie_of(op->done);
  tracked->counted = &ad->under_way;
  EXPECT_DEATH(gex_AD_Destroy(ad),
               "while 1 operation.s. of this process are under way.*GX-156, thread ");
  DispatchSink{}.done(cookie_of(*tracked));
  wait_op(op);
  gex_AD_Destroy(ad);
}

// GX-086: a handler of GASNet-EX runs for what it was registered for.
void do_nothing(pinwire_token*, int32_t) {}
void take_payload(pinwire_token*, void*, size_t, int32_t) {}

TEST(HandlerShapes, OtherMessagesAreBreaches_GX_086) {
  const int32_t args[2] = {1, 2};
  handler_table[200] = reinterpret_cast<HandlerFunction>(do_nothing);
  handler_table[201] = reinterpret_cast<HandlerFunction>(take_payload);
  this_thread.in_handler = true;  // which alone sends replies
  dispatch_loopback(200, {}, true, Category::kShort, nullptr, 0, 1,
                    args);  // nothing is known of it
  handler_shapes[200] = {true, true, false, false, true, false, 1};
  handler_shapes[201] = {true, false, true, true, false, true, 1};
  dispatch_loopback(200, {}, true, Category::kShort, nullptr, 0, 1, args);
  dispatch_loopback(201, {}, false, Category::kMedium, nullptr, 0, 1, args);
  dispatch_loopback(201, {}, false, Category::kLong, nullptr, 0, 1, args);
  EXPECT_DEATH(dispatch_loopback(200, {}, true, Category::kShort, nullptr, 0, 2, args),
               "a Short request with 2 arguments to handler 200.*for Short requests with 1");
  EXPECT_DEATH(dispatch_loopback(200, {}, false, Category::kShort, nullptr, 0, 1, args), "GX-086");
  EXPECT_DEATH(dispatch_loopback(200, {}, true, Category::kMedium, nullptr, 0, 1, args), "GX-086");
  EXPECT_DEATH(dispatch_loopback(201, {}, true, Category::kMedium, nullptr, 0, 1, args),
               "Medium request .*for Medium Long replies with 1");
  EXPECT_DEATH(dispatch_loopback(201, {}, false, Category::kShort, nullptr, 0, 1, args), "GX-086");
  this_thread.in_handler = false;
}

}  // namespace
}  // namespace pinwire
