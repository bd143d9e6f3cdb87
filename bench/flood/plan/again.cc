#include "bench/flood/plan/again.h"

#include <cstdlib>

#include "bench/flood/words/json_file.h"
#include "bench/flood/words/text.h"

namespace pinwire::flood {
namespace {

constexpr const char* kFileVariable = "GASNET_JOB_AGAIN";
constexpr const char* kSettingsVariable = "FLOOD_SETTINGS";
constexpr const char* kInputVariable = "FLOOD_INPUT";

std::string take_variable(const char* name) {
  const char* value = std::getenv(name);
  std::string taken = value == nullptr ? "" : value;
  ::unsetenv(name);
  return taken;
}

std::string assignment(const char* name, const std::string& value) {
  return std::string(name) + "=" + value + '\0';
}

}  // namespace

Legacy take_legacy() {
  Legacy legacy;
  const std::string settings = take_variable(kSettingsVariable);
  for (size_t at = 0, end; (end = settings.find('\n', at)) != std::string::npos; at = end + 1)
    legacy.settings.push_back(settings.substr(at, end - at));
  legacy.input = take_variable(kInputVariable);
  legacy.is_there = !legacy.settings.empty();
  return legacy;
}

Status ask_again(const char* dispatch, const TrafficSettings& settings, const std::string& input) {
  const char* path = std::getenv(kFileVariable);
  if (path == nullptr) {
    return error(
        "Dispatch is chosen before a job starts, and what started this one (mpirun, srun, ssh to "
        "another host, or no launcher) cannot start it again; quit, and start it with "
        "GASNET_DISPATCH=%s",
        dispatch);
  }
  const std::string commands =
      text("set fwd %s\nset burst %u\nset txpkts %llu\nset depth %u\n", entry(settings.mode).name,
           settings.burst, static_cast<unsigned long long>(settings.bytes), settings.depth);
  return write_whole_file(path, assignment("GASNET_DISPATCH", dispatch) +
                                    assignment(kSettingsVariable, commands) +
                                    assignment(kInputVariable, input));
}

}  // namespace pinwire::flood
