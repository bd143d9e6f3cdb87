// Text and descriptor come together, or none does.
#include "core/launch/fd_record.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace pinwire::launch {
namespace {

class FdRecordTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    near_.reset(ends[0]);
    far_.reset(ends[1]);
  }
  Fd near_, far_;
};

TEST_F(FdRecordTest, TheDescriptorIsACopyThatNoProgramInherits) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const Fd read(pipe[0]), write(pipe[1]);
  ASSERT_TRUE(send_record(near_.get(), "a pipe", write.get()));
  const auto got = receive_record(far_.get());
  EXPECT_EQ(got.text, "a pipe");
  ASSERT_TRUE(got.fd);
  EXPECT_NE(got.fd.get(), write.get());
  EXPECT_EQ(::fcntl(got.fd.get(), F_GETFD), FD_CLOEXEC);
  char letter = 0;
  ASSERT_EQ(::write(got.fd.get(), "x", 1), 1);
  ASSERT_EQ(::read(read.get(), &letter, 1), 1);
  EXPECT_EQ(letter, 'x');
}

TEST_F(FdRecordTest, ATextMayComeAlone) {
  ASSERT_TRUE(send_record(near_.get(), "no more", -1));
  const auto got = receive_record(far_.get());
  EXPECT_EQ(got.text, "no more");
  EXPECT_FALSE(got.fd);
}

TEST_F(FdRecordTest, AnEndIsNoRecord) {
  near_.reset();
  const auto got = receive_record(far_.get());
  EXPECT_EQ(got.text, "");
  EXPECT_FALSE(got.fd);
  EXPECT_FALSE(send_record(far_.get(), "to nobody", -1));
}

}  // namespace
}  // namespace pinwire::launch
