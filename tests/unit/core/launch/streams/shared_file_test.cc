// Nothing here may wait for long: a test that does never ends.
#include "core/launch/streams/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <string>

#include "core/launch/loop/loop.h"
#include "core/launch/process/process.h"
#include "tests/unit/core/launch/full_counter.h"

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

/// Text that is written to the screen is read from the terminal, or the other way round. Raw, so
/// that no line discipline holds bytes back.
Ends terminal_ends(bool terminal_reads) {
  Fd screen(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!screen || ::grantpt(screen.get()) != 0 || ::unlockpt(screen.get()) != 0) return {};
  Fd terminal(::open(::ptsname(screen.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios mode{};
  ::tcgetattr(terminal.get(), &mode);
  ::cfmakeraw(&mode);
  ::tcsetattr(terminal.get(), TCSANOW, &mode);
  if (terminal_reads) return {std::move(terminal), std::move(screen)};
  return {std::move(screen), std::move(terminal)};
}

void wait_until_rested(const SharedFile& file) {
  while (now_ms() < file.rests_until_ms()) ::usleep(1000);
}

bool is_non_blocking(const Fd& fd) { return (::fcntl(fd.get(), F_GETFL) & O_NONBLOCK) != 0; }

/// Reads all that there is, then finds nothing.
void expect_reads(const Ends& ends, SharedFile file) {
  char text[100];
  EXPECT_EQ(file.read(text, sizeof text), -1);
  EXPECT_EQ(errno, EAGAIN);
  ASSERT_EQ(::write(ends.writes.get(), "words\n", 6), 6);
  EXPECT_EQ(file.read(text, sizeof text), 6);
  EXPECT_EQ(file.read(text, sizeof text), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_FALSE(is_non_blocking(ends.reads));
}

void expect_reads(const Ends& ends) { expect_reads(ends, ends.reads.get()); }

/// Writes as much as there is room for, and again once there is more.
void expect_writes(const Ends& ends, SharedFile file) {
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
  wait_until_rested(file);
  EXPECT_GT(file.write("x", 1), 0);
  EXPECT_FALSE(is_non_blocking(ends.writes));
}

void expect_writes(const Ends& ends) { expect_writes(ends, ends.writes.get()); }

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

/// To open the device of a master makes another pair of ends.
TEST(SharedFile, TheMasterOfATerminalIsReadAndWritten) {
  const auto from_master = terminal_ends(true), to_master = terminal_ends(false);
  if (!from_master.reads || !to_master.reads) GTEST_SKIP() << "no pseudo-terminals here";
  expect_writes(from_master);
  expect_reads(to_master);
}

constexpr auto kPolled = SharedFile::Way::kPolled;

TEST(SharedFilePolled, AnEmptyPipeHoldsNobody) {
  const auto ends = pipe_ends();
  expect_reads(ends, {ends.reads.get(), kPolled});
}

TEST(SharedFilePolled, AFullPipeHoldsNobody) {
  const auto ends = pipe_ends();
  expect_writes(ends, {ends.writes.get(), kPolled});
}

TEST(SharedFilePolled, ASilentTerminalHoldsNobody) {
  const auto ends = terminal_ends(true);
  if (!ends.reads) GTEST_SKIP() << "no pseudo-terminals here";
  expect_reads(ends, {ends.reads.get(), kPolled});
}

/// It polls as ready while there is room for one byte, and keeps those that bring more.
TEST(SharedFilePolled, AFullTerminalHoldsNobody) {
  const auto ends = terminal_ends(false);
  if (!ends.writes) GTEST_SKIP() << "no pseudo-terminals here";
  expect_writes(ends, {ends.writes.get(), kPolled});
}

/// It polls as ready, and waits for the second byte of each read(2) for 25 s.
TEST(SharedFilePolled, ATerminalThatWaitsForMoreHoldsNobodyForLong) {
  const auto ends = terminal_ends(true);
  if (!ends.reads) GTEST_SKIP() << "no pseudo-terminals here";
  termios mode{};
  ::tcgetattr(ends.reads.get(), &mode);
  mode.c_cc[VMIN] = 2;
  mode.c_cc[VTIME] = 255;
  ::tcsetattr(ends.reads.get(), TCSANOW, &mode);
  ASSERT_EQ(::write(ends.writes.get(), "x", 1), 1);
  SharedFile file(ends.reads.get(), kPolled);
  const int64_t began_ms = now_ms();
  char text[2];
  ssize_t got;
  do {
    got = file.read(text, sizeof text);
  } while (got < 0 && errno == EAGAIN);
  EXPECT_EQ(got, 1);
  EXPECT_LT(now_ms() - began_ms, 15'000);
}

/// As where another process was faster: poll(2) promises what read(2) then waits for.
TEST(SharedFilePolled, APromiseOfBytesThatPollBreaksIsNotTheEnd) {
  const Fd faults(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY)));
  uffdio_api api{UFFD_API, 0, 0};
  if (!faults || ::ioctl(faults.get(), UFFDIO_API, &api) != 0)
    GTEST_SKIP() << "nobody may use userfaultfd(2) here";
  SharedFile file(faults.get(), kPolled);
  uffd_msg none;
  errno = 0;
  EXPECT_EQ(file.read(&none, sizeof none), -1);
  EXPECT_EQ(errno, EAGAIN);
}

constexpr uint64_t kTooMuch = 5;

TEST(SharedFilePolled, APromiseThatPollBreaksHoldsNobodyAndIsBelievedLessAndLess) {
  const FullCounter counter;
  SharedFile file(counter.fd(), kPolled);
  int64_t rest_ms = 0;
  for (int round = 0; round < 8; ++round) {
    const int64_t before_ms = now_ms();
    EXPECT_EQ(file.write(&kTooMuch, sizeof kTooMuch), -1);
    EXPECT_EQ(errno, EAGAIN);
    const int64_t until_ms = file.rests_until_ms();
    EXPECT_LE(until_ms - now_ms(), SharedFile::kRestMsMax);
    rest_ms = until_ms - before_ms;  // at least
    EXPECT_EQ(file.write(&kTooMuch, sizeof kTooMuch), -1);
    EXPECT_EQ(errno, EAGAIN);
    const bool is_early = now_ms() < until_ms;
    EXPECT_TRUE(!is_early || file.rests_until_ms() == until_ms) << "it asked again";
    wait_until_rested(file);
  }
  EXPECT_GE(rest_ms, SharedFile::kRestMsMax);
  counter.empty();
  EXPECT_EQ(file.write(&kTooMuch, sizeof kTooMuch), 8);
}

TEST(SharedFilePolled, TheCallersAlarmsAreAsBefore) {
  sigset_t alarm, before, now;
  ::sigemptyset(&alarm);
  ::sigaddset(&alarm, SIGALRM);
  ::sigprocmask(SIG_BLOCK, &alarm, &before);
  const auto action_before = ::signal(SIGALRM, SIG_IGN);
  const itimerval much_later{{}, {1000, 0}};
  itimerval timer{};
  ::setitimer(ITIMER_REAL, &much_later, nullptr);

  const FullCounter counter;
  SharedFile file(counter.fd(), kPolled);
  EXPECT_EQ(file.write(&kTooMuch, sizeof kTooMuch), -1) << "though the signal was blocked";

  EXPECT_EQ(::getitimer(ITIMER_REAL, &timer), 0);
  EXPECT_GT(timer.it_value.tv_sec, 0);
  EXPECT_EQ(timer.it_interval.tv_sec + timer.it_interval.tv_usec, 0);
  ::sigprocmask(SIG_SETMASK, nullptr, &now);
  EXPECT_EQ(::sigismember(&now, SIGALRM), 1);
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  EXPECT_EQ(::signal(SIGALRM, action_before), SIG_IGN);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

/// A child writes to what it opened as /dev/tty while that was `screen`'s terminal. In between it
/// gets another one.
int write_to_former_terminal(const std::string& former, const std::string& later) {
  ::signal(SIGHUP, SIG_IGN);
  ::setsid();
  const int first = ::open(former.c_str(), O_RDWR);
  const int tty = ::open("/dev/tty", O_RDWR | O_NOCTTY);
  if (first < 0 || tty < 0 || ::ioctl(first, TIOCNOTTY) != 0) return 77;
  if (::open(later.c_str(), O_RDWR) < 0 || ::open("/dev/tty", O_RDWR) < 0) return 77;
  return SharedFile(tty).write("words", 5) == 5 ? 0 : 1;
}

TEST(SharedFile, ADeviceThatIsAnotherTerminalNowIsNotOpenedAnew) {
  const auto former = terminal_ends(false), later = terminal_ends(false);
  if (!former.reads || !later.reads) GTEST_SKIP() << "no pseudo-terminals here";
  const std::string former_name = ::ptsname(former.reads.get());
  const std::string later_name = ::ptsname(later.reads.get());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(write_to_former_terminal(former_name, later_name));
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no terminal of one's own here";
  EXPECT_EQ(status, 0);
  for (const auto* ends : {&former, &later}) ::fcntl(ends->reads.get(), F_SETFL, O_NONBLOCK);
  char text[10];
  EXPECT_EQ(::read(later.reads.get(), text, sizeof text), -1);
  EXPECT_EQ(::read(former.reads.get(), text, sizeof text), 5);
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
