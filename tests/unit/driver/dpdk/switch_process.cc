#include "tests/unit/driver/dpdk/switch_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace pinwire {

SwitchProcess::SwitchProcess(uint32_t ports, const std::string& directory,
                             const std::vector<std::string>& more) {
  std::vector<std::string> words = {PINWIRE_SWITCH_PATH, "--ports", std::to_string(ports), "--dir",
                                    directory};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe");
  pid_ = fork();
  if (pid_ == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(ends[1]);
  output_fd_ = ends[0];
  if (read_line() != "ready") throw std::runtime_error("the switch did not get ready");
}

SwitchProcess::~SwitchProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (output_fd_ >= 0) close(output_fd_);
}

std::string SwitchProcess::read_line() {
  std::string line;
  char c = 0;
  pollfd waiting{output_fd_, POLLIN, 0};
  while (poll(&waiting, 1, 20'000) > 0 && read(output_fd_, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

std::string SwitchProcess::stop() {
  kill(pid_, SIGTERM);
  const std::string said = read_line();
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? said : "";
}

}  // namespace pinwire
