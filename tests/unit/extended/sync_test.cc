#include "extended/sync.h"

#include <gtest/gtest.h>

#include <vector>

namespace pinwire {
namespace {

// Handles of finished operations among invalid ones, at every distance: all are found.
TEST(Sync, WaitAllFindsEveryHandle_C1_238) {
  for (size_t count = 0; count <= 20; ++count) {
    for (size_t first = 0; first < count; ++first) {
      for (size_t step = 1; step <= count; ++step) {
        std::vector<pinwire_op*> handles(count, nullptr);
        for (size_t i = first; i < count; i += step) handles[i] = take_op();
        wait_all(handles.data(), count);
        EXPECT_EQ(handles, std::vector<pinwire_op*>(count, nullptr))
            << count << " handles, valid from " << first << " by " << step;
      }
    }
  }
}

// One that is found is freed: the next operation takes its place.
TEST(Sync, WaitAllFreesWhatItFinds) {
  std::vector<pinwire_op*> handles(9, nullptr);
  pinwire_op* const op = handles[8] = take_op();
  wait_all(handles.data(), handles.size());
  EXPECT_EQ(take_op(), op);
  wait_op(op);
}

}  // namespace
}  // namespace pinwire
