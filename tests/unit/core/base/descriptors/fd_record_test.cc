// Text and descriptor come together, or none does.
#include "core/base/descriptors/fd_record.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace pinwire {
namespace {

class FdRecordTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_), 0);
  }
  void TearDown() override {
    for (const int end : ends_) ::close(end);
  }
  int ends_[2];
  int &near_ = ends_[0], &far_ = ends_[1];
};

TEST_F(FdRecordTest, TheDescriptorIsACopyThatNoProgramInherits) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  ASSERT_TRUE(send_record(near_, "a pipe", pipe[1]));
  const auto got = receive_record(far_);
  EXPECT_EQ(got.text, "a pipe");
  ASSERT_GE(got.fd, 0);
  EXPECT_NE(got.fd, pipe[1]);
  EXPECT_EQ(::fcntl(got.fd, F_GETFD), FD_CLOEXEC);
  char letter = 0;
  ASSERT_EQ(::write(got.fd, "x", 1), 1);
  ASSERT_EQ(::read(pipe[0], &letter, 1), 1);
  EXPECT_EQ(letter, 'x');
  for (const int one : {pipe[0], pipe[1], got.fd}) ::close(one);
}

TEST_F(FdRecordTest, ATextMayComeAlone) {
  ASSERT_TRUE(send_record(near_, "no more", -1));
  const auto got = receive_record(far_);
  EXPECT_EQ(got.text, "no more");
  EXPECT_EQ(got.fd, -1);
}

TEST_F(FdRecordTest, AnEndIsNoRecord) {
  ::close(std::exchange(near_, -1));
  const auto got = receive_record(far_);
  EXPECT_EQ(got.text, "");
  EXPECT_EQ(got.fd, -1);
  EXPECT_FALSE(send_record(far_, "to nobody", -1));
}

}  // namespace
}  // namespace pinwire
