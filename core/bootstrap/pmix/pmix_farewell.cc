#include "core/bootstrap/pmix/pmix_farewell.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "core/base/check.h"
#include "core/bootstrap/pmix/pmix_watch.h"

namespace pinwire::bootstrap {
namespace {

// The time that the end itself may take beyond the wait for the others.
constexpr int kFinalizeMs = 3000;
constexpr int kUsersMax = 16;  // of PMIx in one process

/// Outlives a fence that answers after its rank has given up on it.
struct FenceState {
  std::mutex mutex;
  std::condition_variable answered;
  bool passed = false;
  const pmix::Info directive = collecting_fence();
};

void on_fence(pmix::Code status, void* context) {
  auto* const state = static_cast<std::shared_ptr<FenceState>*>(context);
  {
    const std::lock_guard hold((*state)->mutex);
    (*state)->passed = status == pmix::kSuccess;
  }
  (*state)->answered.notify_all();
  delete state;
}

/// The thread takes no signal: they are for the client's threads.
class SignalsOff {
 public:
  SignalsOff() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsOff() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsOff(const SignalsOff&) = delete;
  SignalsOff& operator=(const SignalsOff&) = delete;

 private:
  sigset_t before_;
};

void ring(int fd) noexcept {
  const uint64_t one = 1;
  [[maybe_unused]] const auto wrote = ::write(fd, &one, sizeof one);
}

}  // namespace

PmixFarewell::PmixFarewell(const PmixLibrary& library, int timeout_ms)
    : library_(library),
      timeout_ms_(timeout_ms),
      owner_(::getpid()),
      word_fd_(::eventfd(0, EFD_CLOEXEC)),
      done_fd_(::eventfd(0, EFD_CLOEXEC)) {
  check(word_fd_ >= 0 && done_fd_ >= 0, "no eventfd", errno);
  const SignalsOff off;
  thread_ = std::thread([this] { work(); });
}

PmixFarewell::~PmixFarewell() {
  // Without a word until now: the job goes on for the others, this rank just says good-bye.
  if (!said_.exchange(true)) {
    quiet_end_.store(true);
    ring(word_fd_);
  }
  thread_.join();
  ::close(word_fd_);
  ::close(done_fd_);
}

void PmixFarewell::say(int code, bool ends_all) noexcept {
  if (::getpid() != owner_ || said_.exchange(true)) return;
  const int saved = errno;
  code_.store(code);
  ends_all_.store(ends_all);
  ring(word_fd_);
  errno = saved;
}

void PmixFarewell::wait() noexcept {
  if (::getpid() != owner_ || !said_.load()) return;
  const int saved = errno;
  // Not for ever: if a signal handler that ends the job interrupted PMIx itself, the farewell is
  // stuck. Then this process ends as after a crash.
  pollfd done{done_fd_, POLLIN, 0};
  while (::poll(&done, 1, timeout_ms_ + kFinalizeMs) < 0 && errno == EINTR) {
  }
  errno = saved;
}

void PmixFarewell::work() {
  uint64_t word = 0;
  while (::read(word_fd_, &word, sizeof word) < 0 && errno == EINTR) {
  }
  if (quiet_end_.load() || all_leave()) {
    finalize();
  } else {
    library_.abort(code_.load(), "a rank left the job and the others did not", nullptr, 0);
  }
  ring(done_fd_);
}

/// PMIx counts its users in a process, and a launcher takes a rank for crashed that ends before the
/// last: an MPI that the client began and leaves to gasnet_exit would be one.
void PmixFarewell::finalize() const {
  expect_pmix_end();
  const int users_max = ends_all_.load() ? kUsersMax : 1;
  for (int user = 0; user < users_max && library_.initialized() != 0; ++user) {
    library_.finalize(nullptr, 0);
  }
}

bool PmixFarewell::all_leave() {
  auto state = std::make_shared<FenceState>();
  auto* const context = new std::shared_ptr<FenceState>(state);
  const auto begun = library_.fence_nb(nullptr, 0, &state->directive, 1, on_fence, context);
  if (begun != pmix::kSuccess) {
    delete context;
    return begun == pmix::kOperationSucceeded;
  }
  std::unique_lock hold(state->mutex);
  return state->answered.wait_for(hold, std::chrono::milliseconds(timeout_ms_),
                                  [&] { return state->passed; });
}

}  // namespace pinwire::bootstrap
