// Starting one process with everything it needs, and saying exactly why if that fails.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/launch/loop/fd.h"
#include "core/launch/process/child_process.h"

namespace pinwire::launch {

struct ProcessPlan {
  std::string path;                      ///< of the program, found and executable
  std::vector<std::string> arguments;    ///< the first is the program's name
  std::vector<std::string> environment;  ///< NAME=value
  int stdin_fd = -1;                     ///< -1: /dev/null; 0: the launcher's own
  int stdout_fd = 1;
  int stderr_fd = 2;
  int kept_fd = -1;           ///< one more that the program inherits, under this number
  int net_namespace_fd = -1;  ///< -1: the launcher's
  bool own_session = false;   ///< out of the terminal's reach
  /// Out of reach of the terminal's signals. A session would be a scheduling group of its own
  /// (sched(7), autogroup), and from Linux 6.18 on one can keep another off a core for seconds.
  bool own_group = false;
  std::vector<int> cpus;  ///< empty: all
  bool no_aslr = false;   ///< addresses of code, stack and mappings are not random
};

/// Open files: as many as the system lets this process have. Programs that it starts get the limit
/// that was before.
void raise_descriptor_limit();

/// Where `program` is, looked for in PATH as a shell does, then in the working directory.
Result<std::string> find_program(const std::string& program);

struct Pipe {
  Fd read, write;
};
/// Both ends closed on exec.
Result<Pipe> make_pipe();

/// Two ends of SOCK_SEQPACKET, both closed on exec. `whose`: for the sentence.
Result<std::pair<Fd, Fd>> make_socket_pair(const std::string& whose);

/// Tells whether a process that was forked runs its program, without a wait.
class StartReport {
 public:
  StartReport() = default;
  StartReport(Fd pipe, std::string path) : pipe_(std::move(pipe)), path_(std::move(path)) {}
  /// Readable once it is known; -1 after read() has told it.
  int fd() const noexcept { return pipe_.get(); }
  /// Nothing while it is not known, which takes long on a busy machine. Then, once: success, or a
  /// sentence, and the process ends.
  std::optional<Status> read();

 private:
  Fd pipe_;
  std::string path_;
};

struct StartingProcess {
  ChildProcess process;
  StartReport report;
};

/// Forks. The program is killed when the caller dies.
Result<StartingProcess> begin_process(const ProcessPlan& plan);

}  // namespace pinwire::launch
