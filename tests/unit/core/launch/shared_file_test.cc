// Nothing here may wait: a test that does never ends.
#include "core/launch/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "core/launch/process.h"

namespace pinwire::launch {
namespace {

struct Ends {
  Fd reads, writes;
};

Ends pipe_ends() {
  auto pipe = make_pipe();
  return {std::move(pipe->read), std::move(pipe->write)};
}

Ends socket_ends() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

/// The first end writes, and the second shows it, or the other way round. Raw, so that no
/// line discipline holds bytes back.
Ends terminal_ends(bool program_reads) {
  Fd screen(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!screen || ::grantpt(screen.get()) != 0 || ::unlockpt(screen.get()) != 0) return {};
  Fd terminal(::open(::ptsname(screen.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (program_reads) return {std::move(terminal), std::move(screen)};
  return {std::move(screen), std::move(terminal)};
}

bool is_non_blocking(const Fd& fd) { return (::fcntl(fd.get(), F_GETFL) & O_NONBLOCK) != 0; }

/// Reads all that there is, then finds nothing.
void expect_reads(const Ends& ends) {
  SharedFile file(ends.reads.get());
  char text[100];
  EXPECT_EQ(file.read(text, sizeof text), -1);
  EXPECT_EQ(errno, EAGAIN);
  ASSERT_EQ(::write(ends.writes.get(), "words\n", 6), 6);
  EXPECT_EQ(file.read(text, sizeof text), 6);
  EXPECT_EQ(file.read(text, sizeof text), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_FALSE(is_non_blocking(ends.reads));
}

/// Writes as much as there is room for, and again once there is more.
void expect_writes(const Ends& ends) {
  SharedFile file(ends.writes.get());
  const std::string page(4096, 'x');
  constexpr size_t kFarTooMuch = 64 << 20;
  size_t bytes = 0;
  for (ssize_t wrote; (wrote = file.write(page.data(), page.size())) > 0 && bytes < kFarTooMuch;)
    bytes += static_cast<size_t>(wrote);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_GT(bytes, 0U);
  EXPECT_LT(bytes, kFarTooMuch);
  std::string seen(bytes, ' ');
  for (size_t read = 0; read < bytes;) {
    const ssize_t got = ::read(ends.reads.get(), seen.data(), bytes - read);
    ASSERT_GT(got, 0);
    read += static_cast<size_t>(got);
  }
  EXPECT_GT(file.write("x", 1), 0);
  EXPECT_FALSE(is_non_blocking(ends.writes));
}

TEST(SharedFile, AnEmptyPipeHoldsNobody) { expect_reads(pipe_ends()); }
TEST(SharedFile, AnEmptySocketHoldsNobody) { expect_reads(socket_ends()); }
TEST(SharedFile, AFullPipeHoldsNobody) { expect_writes(pipe_ends()); }
TEST(SharedFile, AFullSocketHoldsNobody) { expect_writes(socket_ends()); }

TEST(SharedFile, ASilentTerminalHoldsNobody) {
  const auto ends = terminal_ends(true);
  if (!ends.reads) GTEST_SKIP() << "no pseudo-terminals here";
  expect_reads(ends);
}

TEST(SharedFile, AFullTerminalHoldsNobody) {
  const auto ends = terminal_ends(false);
  if (!ends.writes) GTEST_SKIP() << "no pseudo-terminals here";
  expect_writes(ends);
}

TEST(SharedFile, FilesAreReadAndWrittenWhereTheyAre) {
  char path[] = "/tmp/shared-file-XXXXXX";
  const Fd file(::mkostemp(path, O_CLOEXEC));
  ASSERT_TRUE(static_cast<bool>(file));
  ::unlink(path);
  SharedFile shared(file.get());
  EXPECT_EQ(shared.write("one two", 7), 7);
  ASSERT_EQ(::lseek(file.get(), 4, SEEK_SET), 4);
  char text[10] = "";
  EXPECT_EQ(shared.read(text, sizeof text), 3);
  EXPECT_STREQ(text, "two");
  EXPECT_EQ(shared.read(text, sizeof text), 0) << "its end";
}

TEST(SharedFile, TheEndOfAPipeAndAReaderThatIsGoneAreTold) {
  ::signal(SIGPIPE, SIG_IGN);
  auto first = pipe_ends(), second = pipe_ends();
  SharedFile in(first.reads.get()), out(second.writes.get());
  first.writes.reset();
  second.reads.reset();
  char letter;
  EXPECT_EQ(in.read(&letter, 1), 0);
  EXPECT_EQ(out.write("x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
}

TEST(SharedFile, DevicesAreReadAndWritten) {
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC)), full(::open("/dev/full", O_WRONLY));
  if (!full) GTEST_SKIP() << "there is no /dev/full";
  char letter;
  EXPECT_EQ(SharedFile(null.get()).read(&letter, 1), 0);
  EXPECT_EQ(SharedFile(null.get()).write("x", 1), 1);
  EXPECT_EQ(SharedFile(full.get()).write("x", 1), -1);
  EXPECT_EQ(errno, ENOSPC);
}

}  // namespace
}  // namespace pinwire::launch
