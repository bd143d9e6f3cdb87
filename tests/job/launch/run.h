// Runs a command as a user would, and keeps all it says.
#pragma once

#include <string>
#include <vector>

namespace pinwire_test {

struct Outcome {
  int code = -1;  ///< exit code, or 128 + signal
  std::string out, err;
  double seconds = 0;
};

/// Kills it (as a whole process group) after `limit_s`; code 124 then.
Outcome run(const std::vector<std::string>& command,
            const std::vector<std::string>& environment = {}, const std::string& input = "",
            double limit_s = 120);

/// A command that runs while the test goes on.
class Running {
 public:
  explicit Running(const std::vector<std::string>& command,
                   const std::vector<std::string>& environment = {});
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  int process() const { return process_; }
  /// Writes to its standard input.
  void tell(const std::string& text);
  /// Waits until its standard output has `count` times `text`. False if it does not within
  /// `limit_s`.
  bool wait_for(const std::string& text, int count, double limit_s = 60) {
    return wait_for_in(out_, text, count, limit_s);
  }
  bool wait_for_error(const std::string& text, int count, double limit_s = 60) {
    return wait_for_in(err_, text, count, limit_s);
  }
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }
  Outcome wait(double limit_s = 60);

 private:
  int process_, out_fd_, err_fd_, in_fd_;
  std::string out_, err_;
  double started_;
  bool pump(double until);
  bool wait_for_in(const std::string& stream, const std::string& text, int count, double limit_s);
  friend Outcome run(const std::vector<std::string>&, const std::vector<std::string>&,
                     const std::string&, double);
};

/// Processes whose environment has `assignment` ("NAME=value").
std::vector<int> processes_with(const std::string& assignment);
std::vector<int> children_of(int process);
/// The contents of the process's file in /proc, and 0 or the first child of it whose `file` has
/// `text`.
std::string words_of(int process, const char* file);
int child_with(int parent, const char* file, const char* text);
/// The janitor among the children of a launcher; 0 if it has none for long.
int janitor_of(int launcher);
/// A command line of sh(1), in which "$@" is the launcher with a job. It has this test's mark, and
/// standard error of its own.
std::vector<std::string> in_shell(const std::string& line, const std::vector<std::string>& job);
/// True once the state in its stat is `state`, false if it is another one for `limit_s`.
bool comes_into_state(int process, char state, double limit_s = 20);
/// True once all processes whose environment has `assignment` sleep, and none has run between two
/// looks at all of them: then they wait for others, or for a clock.
bool come_to_rest(const std::string& assignment, double limit_s = 60);
/// True once there is none, false if there still is one after `limit_s`.
bool gone(const std::string& assignment, double limit_s);
/// Names in `folder` that start with `prefix`.
std::vector<std::string> entries(const std::string& folder, const std::string& prefix);
/// True once `folder` is empty.
bool empty_within(const std::string& folder, double limit_s);
double now_s();
int count_of(const std::string& text, const std::string& part);
std::vector<std::string> sorted_lines(const std::string& text);
/// Ports of the loopback interface that are free now; all different.
std::vector<int> free_ports(int count);

/// A directory of this test alone, removed at its end.
class Folder {
 public:
  Folder();
  ~Folder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace pinwire_test
