// Signals to the launcher, as events of its loop.
#pragma once

#include <signal.h>

#include <functional>

#include "core/base/result.h"
#include "core/launch/loop/fd.h"
#include "core/launch/loop/loop.h"

namespace pinwire::launch {

class Signals {
 public:
  struct Events {
    std::function<void()> child_changed;
    /// `from_kernel`: the terminal sent it, to every process of the foreground group.
    std::function<void(int signal_number, bool from_kernel)> user_signal;
  };
  Signals(Loop& loop, Events events);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  /// A sentence if the kernel refuses to tell of signals, as under a seccomp profile: nothing may
  /// be started then.
  Status opened() const;
  /// From now on SIGTSTP and SIGCONT are events, too. Before that SIGTSTP stops this process as any
  /// other.
  void watch_stops();

 private:
  void read();
  Events events_;
  bool watches_stops_ = false;
  Fd fd_;
  Loop::Watch watch_;
  int os_error_ = 0;  // why there is no fd_
};

/// Stops this process as SIGTSTP would if it were no event; returns after SIGCONT.
void stop_until_continued();

/// Whether a signal of this number asks for the end of a job.
bool asks_for_end(int signal_number) noexcept;

/// The signal that asks for the end of this process: the one of note_end(), or one that is still
/// pending; 0: none has come.
int end_was_asked() noexcept;
/// A signal that a Signals has read ends this process or its job, instead of being the ranks' own
/// affair. The first one stays.
void note_end(int signal_number) noexcept;
/// The ranks get the signal that was noted, and the job goes on.
void forget_end() noexcept;

/// Blocks them, so that none is lost before a Signals exists. Before the first thread or child.
void block_signals();
/// As they were before this process began; for a program about to be executed.
void restore_signals();

/// While one lives, SIGINT, SIGTERM and SIGHUP end this process at once, also those that have come
/// before: for system calls that may have to wait for a file server, which no loop sees. The
/// janitor sweeps up. SIGQUIT ends no such wait, as it writes a core file first, and waits to be
/// read.
class EndsBySignal {
 public:
  EndsBySignal() noexcept;
  ~EndsBySignal();
  EndsBySignal(const EndsBySignal&) = delete;
  EndsBySignal& operator=(const EndsBySignal&) = delete;

 private:
  sigset_t before_;
};

}  // namespace pinwire::launch
