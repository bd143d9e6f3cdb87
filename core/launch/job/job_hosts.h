// The hosts of a job as one: a request goes to each of them, or to the host of a rank. Those with
// an agent hear from time to time that the launcher is still there (Pulse).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/launch/hosts/host.h"
#include "core/launch/remote/pulse.h"

namespace pinwire::launch {

class JobHosts {
 public:
  /// Agents take a launcher that says nothing for `silence_limit_ms` for lost; 0: never.
  explicit JobHosts(int64_t silence_limit_ms) : silence_limit_ms_(silence_limit_ms) {}

  void add(std::unique_ptr<Host> host);
  Host& of(Rank rank) const;
  /// Begins to start the ranks; a sentence if one cannot be.
  Status start();
  void send_all(FrameKind kind, uint32_t round, const SharedBytes& message);
  void signal_all(int signal_number);
  /// The user sent a signal that is the ranks' affair. `ranks_got_it`: those of this terminal did.
  void pass_on(int signal_number, bool ranks_got_it);
  void pause_output(bool pause);
  void drain_output();
  void stop_output(int stream);
  /// When due() wants to be called, whatever else happens.
  int64_t deadline_ms() const;
  /// After each turn of the loop.
  void due(int64_t now_ms);
  /// A child of this process has ended: reaps it if it served a host. The value: whether it did. A
  /// sentence: it did, and agents will hear nothing any more.
  Result<bool> reap(pid_t process);
  /// All ranks have ended: lets the processes that served them end. True once they have.
  bool close();

 private:
  Status start_pulse();

  const int64_t silence_limit_ms_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::optional<Pulse> pulse_;  // where there are agents
};

}  // namespace pinwire::launch
