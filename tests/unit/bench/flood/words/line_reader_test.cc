#include "bench/flood/words/line_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace pinwire::flood {
namespace {

class LineReaderTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe(ends_), 0); }
  void TearDown() override {
    ::close(ends_[0]);
    close_writer();
  }
  void write(const std::string& words) {
    ASSERT_EQ(::write(ends_[1], words.data(), words.size()), static_cast<ssize_t>(words.size()));
  }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  int ends_[2] = {-1, -1};
};

TEST_F(LineReaderTest, NothingThereIsNoWait) {
  LineReader reader(ends_[0]);
  reader.poll(0);
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_FALSE(reader.at_end());
}

TEST_F(LineReaderTest, LinesMayComeInPieces) {
  LineReader reader(ends_[0]);
  write("sta");
  reader.poll(0);
  EXPECT_EQ(reader.next(), std::nullopt);
  write("rt\nstop\nqu");
  reader.poll(0);
  EXPECT_EQ(reader.next(), "start");
  EXPECT_EQ(reader.next(), "stop");
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST_F(LineReaderTest, TheLastLineNeedsNoEnd) {
  LineReader reader(ends_[0]);
  write("\nquit");
  close_writer();
  reader.poll(0);
  EXPECT_EQ(reader.next(), "");
  reader.poll(0);
  EXPECT_FALSE(reader.at_end());
  EXPECT_EQ(reader.next(), "quit");
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_TRUE(reader.at_end());
}

TEST_F(LineReaderTest, AnotherReaderMayGoOn) {
  LineReader first(ends_[0]);
  write("set dispatch thread\nstart\nst");
  first.poll(0);
  EXPECT_EQ(first.next(), "set dispatch thread");
  write("op\n");
  first.poll(0);  // it has a line: the rest stays where it is
  LineReader second(ends_[0], first.pending());
  EXPECT_EQ(second.next(), "start");
  second.poll(0);
  EXPECT_EQ(second.next(), "stop");
}

TEST_F(LineReaderTest, AClosedDescriptorIsTheEnd) {
  const int closed = ::dup(ends_[0]);
  ::close(closed);
  LineReader reader(closed);
  reader.poll(0);
  EXPECT_TRUE(reader.at_end());
}

}  // namespace
}  // namespace pinwire::flood
