// A job that runs: passes frames, output and ends between its hosts and the rules of its end.
#pragma once

#include <signal.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/launch/hosts/host.h"
#include "core/launch/job/ending.h"
#include "core/launch/job/gathering.h"
#include "core/launch/job/job_hosts.h"
#include "core/launch/loop/loop.h"
#include "core/launch/streams/line_sink.h"
#include "core/launch/streams/log_to_sink.h"

namespace pinwire::launch {

struct JobPlan {
  Rank rank_count = 0;
  int64_t exit_timeout_ms = 0;
  int64_t silence_limit_ms = 0;  ///< agents take a launcher that says nothing for lost; 0: never
  int64_t close_ms = 3000;  ///< after the end, for hosts to sweep up; then their connections end
  bool tag_lines = false;
  bool verbose = false;
  std::vector<std::byte> environment;  ///< what ranks see as the environment that spawned the job
};

class Job final : public HostEvents, public EndingOrders {
 public:
  /// While it lives, what this process says goes with standard error of the ranks.
  Job(Loop& loop, JobPlan plan);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  void add_host(std::unique_ptr<Host> host) { hosts_.add(std::move(host)); }
  /// Begins to start the ranks; a sentence if one cannot be. Then kill_all() is due.
  Status start() { return hosts_.start(); }
  /// One turn of the loop.
  void turn();
  bool over() const noexcept { return ending_.over(); }
  /// After the end: all output is written, all helpers are gone.
  int finish();
  /// Whether the readers of standard output and error have taken, or lost, all that was said.
  bool all_is_written() const noexcept { return out_.idle() && err_.idle(); }
  /// Kills what runs, for a start that failed half way.
  void kill_all() { hosts_.signal_all(SIGKILL); }
  void interrupted(int signal_number, bool from_terminal);
  /// A child of this process has ended: reaps it if it is one of a host's. True if it was.
  bool reap(pid_t process);
  /// The user sent a signal that is the ranks' affair. `ranks_got_it`: those of this terminal did.
  void pass_on(int signal_number, bool ranks_got_it) {
    hosts_.pass_on(signal_number, ranks_got_it);
  }
  /// The whole job stood still for so long: that counts for no deadline.
  void stood_still(int64_t ms) { ending_.postpone(ms); }
  /// The network of the ranks is gone: none of them can go on.
  void network_failed(const std::string& sentence);

  void on_started(Rank rank, int process_id) override;
  void on_frame(Rank rank, const FrameHeader& header, Bytes chunk) override;
  void on_input_lost(int os_error) override;
  void on_output(Rank rank, int stream, std::string_view text) override;
  void on_ended(Rank rank, int wait_status) override;
  void on_not_started(Rank rank, const std::string& sentence) override;
  void on_host_failed(Rank first, const std::string& sentence) override;

  void signal_rank(Rank rank, int signal_number) override;
  void say(const std::string& sentence) override;
  std::string describe(Rank rank) const override;
  std::string why_not_killed(Rank rank) const override;

 private:
  void welcome(Rank rank);
  void gather(Rank rank, const FrameHeader& header, Bytes chunk);
  void close_hosts();
  void drain();
  void heed_readers();
  void heed_end();
  void heed_reader(int stream);
  void refuse(Rank rank, const std::string& sentence);
  LineSink& sink(int stream) { return stream == 1 ? out_ : err_; }

  Loop& loop_;
  JobPlan plan_;
  const uint64_t job_key_;
  JobHosts hosts_;
  std::vector<int> process_ids_;
  std::vector<bool> joined_;
  LineSink out_, err_;
  const LogToSink own_words_{err_};
  bool heeded_[2] = {};        // stdout, stderr: the error of its write has been dealt with
  bool data_is_lost_ = false;  // of the ranks' standard files
  int given_up_by_ = 0;  // the signal by which the user gave up the output of ranks that have ended
  Gathering gathering_;
  Ending ending_;
};

}  // namespace pinwire::launch
