// A host that runs some of a job's ranks: this one, or another through an agent. The job's requests
// to it, and its events for the job.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/bootstrap/wire.h"
#include "core/launch/loop/loop.h"

namespace pinwire::launch {

using bootstrap::Bytes;
using bootstrap::FrameHeader;
using bootstrap::FrameKind;
using bootstrap::kChunkBytesMax;
using bootstrap::kEveryRank;

class HostEvents {
 public:
  virtual ~HostEvents() = default;
  virtual void on_started(Rank rank, int process_id) = 0;
  /// A frame that the rank sent and may send: its header and chunk are well-formed, its meaning is
  /// not checked. Or what its host tells of it: kHungUp, or kBroken, once, after which it is not
  /// listened to.
  virtual void on_frame(Rank rank, const FrameHeader& header, Bytes chunk) = 0;
  /// Standard input of the job, of which rank 0 gets no more. Only where the rank has not that of
  /// this process itself, which tells it then.
  virtual void on_input_lost(int /*os_error*/) {}
  /// `stream` is 1 or 2.
  virtual void on_output(Rank rank, int stream, std::string_view text) = 0;
  /// After everything that the rank sent.
  virtual void on_ended(Rank rank, int wait_status) = 0;
  /// Its program cannot be executed; its process ends.
  virtual void on_not_started(Rank rank, const std::string& sentence) = 0;
  /// The host can do no more; its ranks that have not ended are lost.
  virtual void on_host_failed(Rank first, const std::string& sentence) = 0;
};

/// A message that several ranks may get: kept once.
using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

class Host {
 public:
  virtual ~Host() = default;
  virtual const std::string& name() const noexcept = 0;
  /// Ranks first() ... first() + count() - 1 run here.
  virtual Rank first() const noexcept = 0;
  virtual Rank count() const noexcept = 0;
  /// Whether its ranks are in the launcher's process group, and get what the terminal sends to it.
  virtual bool shares_terminal() const noexcept = 0;
  /// Begins to start the ranks; a sentence if one cannot be. The events tell which of them run.
  virtual Status start() = 0;
  /// `rank` may be kEveryRank: each rank of this host.
  virtual void send(Rank rank, FrameKind kind, uint32_t round, const SharedBytes& message) = 0;
  virtual void signal_rank(Rank rank, int signal_number) = 0;
  /// Why the last SIGKILL does not end it; empty if it may be on its way.
  virtual std::string why_not_killed(Rank rank) = 0;
  virtual void pause_output(bool pause) = 0;
  /// Reads what its ranks left in their pipes. All ranks have ended.
  virtual void drain_output() = 0;
  /// No process reads this stream any more: ranks that write to it get SIGPIPE, as without a
  /// launcher.
  virtual void stop_output(int stream) = 0;
  /// A pipe to an agent that is to hear from time to time that the launcher is still there (Pulse);
  /// -1: nobody there has to.
  virtual int pulse_fd() const { return -1; }
  /// When due() wants to be called, whatever else happens.
  virtual int64_t deadline_ms() const { return kNever; }
  virtual void due(int64_t /*now_ms*/) {}
  /// A child of this process has ended: reaps it if it is one of this host's. True if it was.
  virtual bool reap(pid_t process) = 0;
  /// All ranks have ended: lets the processes that served them clean up and end. True once they
  /// have.
  virtual bool close() = 0;
};

}  // namespace pinwire::launch
