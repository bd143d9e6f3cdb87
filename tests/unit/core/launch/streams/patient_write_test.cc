// Each runs in a child, as a signal that asked for the end of a process is never forgotten.
#include "core/launch/streams/patient_write.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "core/launch/loop/loop.h"
#include "core/launch/loop/signals.h"
#include "core/launch/process/process.h"
#include "core/launch/process/supervisor_loop.h"

namespace pinwire::launch {
namespace {

class PatientWrite : public testing::Test {
 protected:
  /// A child that blocks signals as a launcher does, with a full pipe to this process.
  template <typename Body>
  void start(Body&& body) {
    const int fd = pipe_->write.get();
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    const std::string page(4096, '.');
    while (::write(fd, page.data(), page.size()) > 0) {
    }
    ::fcntl(fd, F_SETFL, 0);
    child_ = ::fork();
    if (child_ != 0) return pipe_->write.reset();
    pipe_->read.reset();
    // A shell's background job ignores it, and so would the child.
    ::signal(SIGINT, SIG_DFL);
    block_signals();
    ::_exit(body(fd));
  }
  /// Once the child waits for room, or has ended.
  void wait_until_it_waits() const {
    std::string state;
    while (state != "S" && state != "Z") {
      ::usleep(1000);
      std::ifstream facts("/proc/" + std::to_string(child_) + "/stat");
      std::string word;
      facts >> word >> word >> state;
    }
  }
  std::string all_that_comes() {
    std::string all;
    char text[4096];
    for (ssize_t got; (got = ::read(pipe_->read.get(), text, sizeof text)) > 0;)
      all.append(text, static_cast<size_t>(got));
    return all;
  }
  int code() const {
    int status = -1;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -status;
  }
  Result<Pipe> pipe_ = make_pipe();
  pid_t child_ = 0;
};

constexpr size_t kMuch = 300'000;

TEST_F(PatientWrite, AReaderThatComesLateGetsAll) {
  start([](int fd) { return write_patiently(fd, std::string(kMuch, 'x')); });
  wait_until_it_waits();
  const auto all = all_that_comes();
  EXPECT_EQ(all.size() - all.find('x'), kMuch);
  EXPECT_EQ(code(), 0);
}

/// ECANCELED, and other words are not waited for anew.
int write_in_vain(int fd) {
  const int first = write_patiently(fd, "word");
  const int64_t began_ms = now_ms();
  for (int i = 0; i < 10; ++i)
    if (write_patiently(fd, "word") != ECANCELED) return 1;
  return now_ms() - began_ms > 5 * kUnreadMs ? 2 : first;
}

TEST_F(PatientWrite, ASignalThatWaitsEndsIt) {
  for (const int number : {SIGINT, SIGTERM}) {
    pipe_ = make_pipe();
    start([number](int fd) {
      ::raise(number);
      return end_was_asked() == number ? write_in_vain(fd) : 3;
    });
    EXPECT_EQ(code(), ECANCELED) << number;
  }
}

TEST_F(PatientWrite, ASignalThatComesLaterEndsIt) {
  start([](int fd) { return write_patiently(fd, "word"); });
  wait_until_it_waits();
  ::kill(child_, SIGTERM);
  EXPECT_EQ(code(), ECANCELED);
}

TEST_F(PatientWrite, ASignalThatALoopHasReadAndKeepsEndsIt) {
  start([](int fd) {
    SupervisorLoop loop;
    ::raise(SIGTERM);
    loop.turn_until([] { return false; }, kNever);
    return write_in_vain(fd);
  });
  EXPECT_EQ(code(), ECANCELED);
}

/// A SIGINT that came before the ranks, or while they run: they get it, and their job goes on.
TEST_F(PatientWrite, ASignalThatTheRanksTookEndsNothing) {
  for (const bool is_early : {true, false}) {
    pipe_ = make_pipe();
    start([is_early](int) {
      SupervisorLoop loop;
      int taken = 0;
      const auto take = [&] {
        loop.hand_signals_to([&taken](int number, bool) { taken = number; });
      };
      if (!is_early) take();
      ::raise(SIGINT);
      loop.turn_until([&taken] { return taken != 0; }, kNever);
      if (is_early) take();
      return taken == SIGINT ? end_was_asked() : -1;
    });
    EXPECT_EQ(code(), 0) << is_early;
  }
}

TEST_F(PatientWrite, ASignalThatTheJobActsUponEndsIt) {
  start([](int fd) {
    note_end(SIGTERM);
    note_end(SIGINT);
    return end_was_asked() == SIGTERM ? write_in_vain(fd) : 3;
  });
  EXPECT_EQ(code(), ECANCELED);
}

TEST_F(PatientWrite, OtherSignalsDoNotEndIt) {
  start([](int fd) {
    ::raise(SIGUSR1);
    return write_patiently(fd, std::string(kMuch, 'x'));
  });
  wait_until_it_waits();
  const auto all = all_that_comes();
  EXPECT_EQ(all.size() - all.find('x'), kMuch);
  EXPECT_EQ(code(), 0);
}

/// After a signal, too, a reader that takes what it gets gets all.
TEST_F(PatientWrite, AReaderThatTakesSomeGetsAllAfterASignal) {
  start([](int fd) {
    ::raise(SIGTERM);
    return write_patiently(fd, std::string(kMuch, 'x'));
  });
  wait_until_it_waits();
  const auto all = all_that_comes();
  EXPECT_EQ(all.size() - all.find('x'), kMuch);
  EXPECT_EQ(code(), 0);
}

TEST_F(PatientWrite, AReaderThatIsGoneIsTold) {
  start([](int fd) { return write_patiently(fd, "word"); });
  pipe_->read.reset();
  EXPECT_EQ(code(), EPIPE);
}

}  // namespace
}  // namespace pinwire::launch
