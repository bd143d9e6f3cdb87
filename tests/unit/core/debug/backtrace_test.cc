#include "core/debug/backtrace.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "core/debug/debug_program.h"

// Not in a namespace, and with an address that is taken: a name that a backtrace shows.
extern "C" [[gnu::noinline]] int backtrace_of_a_known_function(int fd) {
  const int result = pinwire::print_backtrace(fd);
  asm volatile("" ::: "memory");  // no tail call
  return result;
}

namespace pinwire {
namespace {

class TextFile {
 public:
  TextFile() : fd_(memfd_create("test", MFD_CLOEXEC)) {}
  ~TextFile() { close(fd_); }
  TextFile(const TextFile&) = delete;
  int fd() const { return fd_; }
  std::string text() const {
    char bytes[65536];
    const ssize_t got = pread(fd_, bytes, sizeof bytes, 0);
    return {bytes, got > 0 ? static_cast<size_t>(got) : 0};
  }

 private:
  int fd_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Backtrace, ExecinfoNamesFunctionsOfTheProgram) {
  EXPECT_EQ(prepare_backtraces("EXECINFO", false), "");
  const TextFile out;
  EXPECT_EQ(backtrace_of_a_known_function(out.fd()), 0);
  EXPECT_TRUE(has(out.text(), "unit_debug")) << out.text();
  if (!find_debug_program("addr2line").found()) GTEST_SKIP() << "no addr2line: no lines";
  EXPECT_TRUE(has(out.text(), "backtrace_of_a_known_function at ")) << out.text();
  EXPECT_TRUE(has(out.text(), "backtrace_test.cc:")) << out.text();
}

TEST(Backtrace, GdbShowsAllThreadsAndNothingElse) {
  if (!find_debug_program("gdb").found()) GTEST_SKIP() << "no gdb";
  EXPECT_EQ(prepare_backtraces("GDB", true), "");
  const TextFile out;
  int result = -1;
  std::thread([&] { result = backtrace_of_a_known_function(out.fd()); }).join();
  if (result != 0) GTEST_SKIP() << "gdb may not attach here";
  const std::string text = out.text();
  EXPECT_TRUE(has(text, "Thread 1 ") && has(text, "Thread 2 ")) << text;
  EXPECT_TRUE(has(text, "backtrace_of_a_known_function")) << text;
  EXPECT_FALSE(has(text, "libthread_db")) << text;
}

TEST(Backtrace, WorksInASignalHandlerOfAnotherThread) {
  prepare_backtraces("EXECINFO", false);
  static TextFile out;
  signal(SIGUSR1, [](int) { backtrace_of_a_known_function(out.fd()); });
  std::thread([] { raise(SIGUSR1); }).join();
  signal(SIGUSR1, SIG_DFL);
  EXPECT_TRUE(has(out.text(), "unit_debug")) << out.text();
}

int client_calls = 0;
int write_for_client(int fd) {
  ++client_calls;
  return write(fd, "the client's own\n", 17) == 17 ? 0 : -1;
}
int fail_for_client(int) { return -1; }

TEST(Backtrace, ClientsMechanismsAreTriedByNameAndPassedOverWhenTheyFail) {
  add_backtrace_type({"MYAPP", write_for_client, true});
  add_backtrace_type({"BROKEN", fail_for_client, true});
  EXPECT_EQ(prepare_backtraces("broken,myapp", false), "");
  const TextFile out;
  EXPECT_EQ(print_backtrace(out.fd()), 0);
  EXPECT_EQ(client_calls, 1);
  EXPECT_EQ(out.text(), "the client's own\n");
  EXPECT_EQ(prepare_backtraces("BROKEN", false), "");
  EXPECT_NE(print_backtrace(out.fd()), 0) << "nothing was left to try";
}

TEST(Backtrace, AnUnknownMechanismIsTold) {
  EXPECT_EQ(prepare_backtraces("EXECINFO,NONSENSE,GDB", false), "NONSENSE");
}

TEST(DebugProgram, IsKilledWhenItTakesTooLong) {
  const DebugProgram sleep = find_debug_program("sleep");
  ASSERT_TRUE(sleep.found());
  const char* arguments[] = {"sleep", "1000", nullptr};
  ProgramOutput output = run_debug_program(sleep, arguments, 1);
  EXPECT_EQ(output.bytes, 0u);
  EXPECT_FALSE(find_debug_program("no-such-program").found());
}

}  // namespace
}  // namespace pinwire
