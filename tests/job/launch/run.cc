#include "tests/job/launch/run.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>

#include "core/base/clock.h"

namespace pinwire_test {

double now_s() { return pinwire::monotonic_s(); }

Running::Running(const std::vector<std::string>& command,
                 const std::vector<std::string>& environment)
    : started_(now_s()) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // what a launcher leaves behind is still a descendant
  int in[2], out[2], err[2];
  if (::pipe2(in, O_CLOEXEC) || ::pipe2(out, O_CLOEXEC) || ::pipe2(err, O_CLOEXEC))
    throw std::runtime_error("pipe");
  process_ = ::fork();
  if (process_ == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is killed leaves nobody behind
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    // As a shell in the foreground leaves them, however this test was started.
    for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);
    for (const auto& one : environment) ::putenv(const_cast<char*>(one.c_str()));
    std::vector<char*> list;
    for (const auto& one : command) list.push_back(const_cast<char*>(one.c_str()));
    list.push_back(nullptr);
    ::execvp(list[0], list.data());
    ::_exit(127);
  }
  ::close(in[0]), ::close(out[1]), ::close(err[1]);
  in_fd_ = in[1], out_fd_ = out[0], err_fd_ = err[0];
}

Running::~Running() {
  if (process_ > 0) {
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  for (int fd : {in_fd_, out_fd_, err_fd_})
    if (fd >= 0) ::close(fd);
}

/// Reads what there is; false when both streams have ended.
bool Running::pump(double until) {
  pollfd list[2] = {{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}};
  ::poll(list, 2, std::max(0, static_cast<int>((until - now_s()) * 1000)));
  for (int i = 0; i < 2; ++i) {
    if (list[i].revents == 0) continue;
    char text[65536];
    int& fd = i == 0 ? out_fd_ : err_fd_;
    const auto got = ::read(fd, text, sizeof text);
    if (got > 0) (i == 0 ? out_ : err_).append(text, static_cast<size_t>(got));
    if (got == 0) ::close(fd), fd = -1;
  }
  return out_fd_ >= 0 || err_fd_ >= 0;
}

void Running::tell(const std::string& text) {
  [[maybe_unused]] const auto wrote = ::write(in_fd_, text.data(), text.size());
}

bool Running::wait_for_in(const std::string& stream, const std::string& text, int count,
                          double limit_s) {
  const double until = now_s() + limit_s;
  while (count_of(stream, text) < count && now_s() < until && pump(until)) {
  }
  return count_of(stream, text) >= count;
}

Outcome Running::wait(double limit_s) {
  const double until = now_s() + limit_s;
  while (now_s() < until && pump(until)) {
  }
  int status = 0;
  while (::waitpid(process_, &status, WNOHANG) == 0) {
    if (now_s() > until) return {124, out_, err_, now_s() - started_};  // the destructor kills it
    ::usleep(1000);
  }
  process_ = -1;
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return {code, out_, err_, now_s() - started_};
}

Outcome run(const std::vector<std::string>& command, const std::vector<std::string>& environment,
            const std::string& input, double limit_s) {
  ::signal(SIGPIPE, SIG_IGN);
  Running one(command, environment);
  [[maybe_unused]] auto wrote = ::write(one.in_fd_, input.data(), input.size());
  ::close(one.in_fd_);
  one.in_fd_ = -1;
  return one.wait(limit_s);
}

std::vector<int> descendants() {
  std::map<int, int> parents;
  for (const auto& name : entries("/proc", "")) {
    std::ifstream file("/proc/" + name + "/stat");
    std::string line;
    int parent = 0;
    if (!std::getline(file, line)) continue;
    std::sscanf(line.c_str() + line.rfind(')') + 1, " %*c %d", &parent);
    parents[std::atoi(name.c_str())] = parent;
  }
  std::vector<int> list;
  for (const auto& [process, parent] : parents) {
    int above = parent;
    // A parent that ended in between leads to nobody: its child may be one of ours.
    while (above > 1 && above != ::getpid()) above = parents.contains(above) ? parents[above] : -1;
    if (process > 1 && above != 0 && above != 1) list.push_back(process);
  }
  return list;
}

std::vector<int> processes_with(const std::string& assignment) {
  std::vector<int> list;
  for (const int process : descendants()) {
    std::ifstream file("/proc/" + std::to_string(process) + "/environ");
    std::stringstream text;
    text << '\0' << file.rdbuf();
    if (text.str().find(std::string(1, '\0') + assignment + '\0') != std::string::npos)
      list.push_back(process);
  }
  return list;
}

std::vector<int> children_of(int process) {
  const auto name = std::to_string(process);
  std::ifstream list("/proc/" + name + "/task/" + name + "/children");
  return {std::istream_iterator<int>(list), {}};
}

std::string words_of(int process, const char* file) {
  std::ifstream stream("/proc/" + std::to_string(process) + "/" + file);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

int child_with(int parent, const char* file, const char* text) {
  for (const int child : children_of(parent))
    if (words_of(child, file).find(text) != std::string::npos) return child;
  return 0;
}

int janitor_of(int launcher) {
  constexpr double kLimitS = 20;  // a new one has no name yet, and may wait long for a core
  for (const double until = now_s() + kLimitS; now_s() < until; ::usleep(5000))
    if (const int child = child_with(launcher, "comm", "pinwire-janitor"); child != 0) return child;
  return 0;
}

std::vector<std::string> in_shell(const std::string& line, const std::vector<std::string>& job) {
  std::vector<std::string> words = {"sh", "-c", line, "sh"};
  words.insert(words.end(), job.begin(), job.end());
  return words;
}

bool comes_into_state(int process, char state, double limit_s) {
  for (const double until = now_s() + limit_s; now_s() < until; ::usleep(5000)) {
    std::ifstream status("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    if (std::getline(status, line) && line[line.rfind(')') + 2] == state) return true;
  }
  return false;
}

namespace {

/// Returns for each process how often it has begun to wait; nothing if one of them does not sleep.
std::map<int, std::string> sleeps_of(const std::vector<int>& processes) {
  std::map<int, std::string> sleeps;
  for (const int process : processes) {
    const auto status = words_of(process, "status");
    const auto counts = status.find("voluntary_ctxt_switches");
    if (status.find("State:\tS") == std::string::npos || counts == std::string::npos) return {};
    sleeps[process] = status.substr(counts);
  }
  return sleeps;
}

}  // namespace

bool come_to_rest(const std::string& assignment, double limit_s) {
  for (const double until = now_s() + limit_s; now_s() < until; ::usleep(5000)) {
    const auto before = sleeps_of(processes_with(assignment));
    if (!before.empty() && sleeps_of(processes_with(assignment)) == before) return true;
  }
  return false;
}

bool gone(const std::string& assignment, double limit_s) {
  for (const double until = now_s() + limit_s; now_s() < until; ::usleep(5000))
    if (processes_with(assignment).empty()) return true;
  return false;
}

bool empty_within(const std::string& folder, double limit_s) {
  for (const double until = now_s() + limit_s; now_s() < until; ::usleep(5000))
    if (entries(folder, "").empty()) return true;
  return false;
}

std::vector<std::string> entries(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> names;
  DIR* list = ::opendir(folder.c_str());
  while (const dirent* entry = list ? ::readdir(list) : nullptr) {
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && name.starts_with(prefix)) names.push_back(name);
  }
  if (list) ::closedir(list);
  return names;
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<int> free_ports(int count) {
  std::vector<int> sockets, ports;
  for (int i = 0; i < count; ++i) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    ::bind(socket, reinterpret_cast<const sockaddr*>(&address), bytes);
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &bytes);
    sockets.push_back(socket);
    ports.push_back(ntohs(address.sin_port));
  }
  for (const int socket : sockets) ::close(socket);
  return ports;
}

Folder::Folder() {
  char path[] = "/tmp/launch-test-XXXXXX";
  if (::mkdtemp(path) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = path;
}

Folder::~Folder() { std::filesystem::remove_all(path_); }

}  // namespace pinwire_test
