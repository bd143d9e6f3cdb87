#include "core/launch/process/job_mark.h"

#include <sys/resource.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "core/base/hash.h"
#include "core/launch/process/process_facts.h"

namespace pinwire::launch {
namespace {

constexpr std::string_view kVariable = "GASNET_JOB_DIR=";
/// Marks lie between this number of microseconds and twice as many.
constexpr uint64_t kMarkMin = uint64_t{1} << 61;

}  // namespace

JobMark::JobMark(const std::string& job_dir)
    : assignment_(std::string(kVariable) + job_dir),
      number_(job_dir.empty()
                  ? 0
                  : kMarkMin | hash_more(kHashStart, job_dir.data(), job_dir.size()) % kMarkMin) {}

JobMark JobMark::in(const std::vector<std::string>& environment) {
  const auto has_it = [](const std::string& one) { return one.starts_with(kVariable); };
  const auto found = std::find_if(environment.begin(), environment.end(), has_it);
  return found != environment.end() ? JobMark(found->substr(kVariable.size())) : JobMark();
}

JobMark JobMark::of_janitor(pid_t process) {
  return JobMark("janitor " + std::to_string(process) + " " + std::to_string(birth_ticks(process)));
}

void JobMark::replace_on_self() const {
  put_on_limits();
  const std::span<char> shown = shown_environment();
  for (auto one = shown.begin(); one != shown.end();) {
    const auto end = std::find(one, shown.end(), '\0');
    if (std::string_view(one, end).starts_with(kVariable)) std::fill(one, end, '\0');
    one = end == shown.end() ? end : end + 1;
  }
  put_on_environment(shown);
}

void JobMark::put_on_environment(std::span<char> shown) const {
  if (shown.size() <= assignment_.size()) return;  // then the limit has to do
  const auto end = std::copy(assignment_.begin(), assignment_.end(), shown.begin());
  // Nothing remains of a variable that it ends within.
  std::fill(end, std::find(end, shown.end(), '\0'), '\0');
}

void JobMark::put_on_limits() const noexcept {
  rlimit limit{};
  if (number_ == 0 || ::getrlimit(RLIMIT_RTTIME, &limit) != 0 || limit.rlim_max < number_) return;
  if (limit.rlim_cur < kMarkMin) return;  // its user has set it
  limit.rlim_cur = number_;
  ::setrlimit(RLIMIT_RTTIME, &limit);
}

bool JobMark::is_on(pid_t process) const {
  if (number_ == 0) return false;
  // The limit first: to read an environment may take as long as its process likes.
  return real_time_limit_us(process) == number_ || has_in_environment(process, assignment_);
}

JobMarks::JobMarks(std::span<const std::string> job_dirs) {
  for (const auto& job_dir : job_dirs) {
    const JobMark mark(job_dir);
    if (mark.number_ == 0) continue;
    assignments_.insert(mark.assignment_);
    numbers_.insert(mark.number_);
  }
}

bool JobMarks::any_is_on(pid_t process) const {
  if (numbers_.contains(real_time_limit_us(process))) return true;
  const std::string environment = environment_of(process);
  const std::string start = '\0' + std::string(kVariable);
  for (auto at = environment.find(start); at != std::string::npos;
       at = environment.find(start, at + 1)) {
    const auto end = environment.find('\0', at + 1);
    if (end != std::string::npos && assignments_.contains(environment.substr(at + 1, end - at - 1)))
      return true;
  }
  return false;
}

}  // namespace pinwire::launch
