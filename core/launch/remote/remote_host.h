// The ranks of another host, through an agent that ssh starts there.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "core/launch/hosts/host.h"
#include "core/launch/loop/silence.h"
#include "core/launch/process/process.h"
#include "core/launch/remote/frame_stream.h"
#include "core/launch/remote/output_window.h"
#include "core/launch/remote/parcel.h"
#include "core/launch/streams/shared_file.h"

namespace pinwire::launch {

/// A host gets so long to tell of the ranks that it is to kill; its command may have to connect to
/// it first. Then the connection is ended, and the agent, if there is one, kills all that it has.
inline constexpr int64_t kKillGraceMs = 1500;

class RemoteHost final : public Host {
 public:
  /// `shell`: the words that run a command on the host, ssh and its options and the host's name.
  RemoteHost(Loop& loop, HostEvents& events, std::vector<std::string> shell, RemotePlan plan);
  const std::string& name() const noexcept override { return plan_.host_name; }
  Rank first() const noexcept override { return plan_.first; }
  Rank count() const noexcept override { return plan_.count; }
  bool shares_terminal() const noexcept override { return false; }
  Status start() override;
  void send(Rank rank, FrameKind kind, uint32_t round, const SharedBytes& message) override;
  void signal_rank(Rank rank, int signal_number) override;
  std::string why_not_killed(Rank rank) override;
  void pause_output(bool pause) override;
  void drain_output() override {}  // comes before a rank's end
  void stop_output(int stream) override;
  int pulse_fd() const override { return stream_ ? stream_->out_fd() : -1; }
  int64_t deadline_ms() const override;
  void due(int64_t now_ms) override;
  bool reap(pid_t process) override;
  bool close() override;

 private:
  void on_frame(const FrameHeader& header, Bytes chunk);
  void on_rank_frame(const FrameHeader& header, Bytes chunk);
  void lost(const std::string& why);
  void give_up(const std::string& why);
  bool awaits_word() const;
  void read_input();
  void input_taken(int bytes);
  void stop_input();

  Loop& loop_;
  HostEvents& events_;
  const std::vector<std::string> shell_;
  const RemotePlan plan_;
  ChildProcess process_;  // ssh
  StartReport start_;
  std::optional<FrameStream> stream_;
  std::vector<bool> ended_;
  bool lost_ = false;
  /// When the job first wanted a rank killed since the agent last told what came of that.
  std::optional<int64_t> kill_asked_ms_;
  std::map<Rank, std::string> why_alive_;  // after their last SIGKILL
  std::optional<Silence> silence_;         // since ssh was started
  OutputCredit output_;
  std::optional<SharedFile> input_;  // the launcher's own, while it is read
  Loop::Watch input_watch_;
  size_t input_bytes_ = 0;  // under way to rank 0
  std::string refusal_;     // the agent's own words before it went
};

}  // namespace pinwire::launch
