// Settings from the environment, and their report in verbose mode.
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/no_signals.h"
#include "core/config/number.h"
#include "core/tools/api.h"
#include "core/tools/host_program.h"
#include "core/tools/numbers.h"

namespace pinwire {
namespace {

const char* own_environment(const char* name) noexcept { return std::getenv(name); }

std::atomic<const char* (*)(const char*)> lookup_now{own_environment};
std::atomic<bool> is_reporter_now{true};

/// Names that were reported; each is once.
pthread_mutex_t reported_lock = PTHREAD_MUTEX_INITIALIZER;
std::vector<std::string>& reported() {
  static auto* names = new std::vector<std::string>;  // never destroyed: atexit handlers may report
  return *names;
}

bool is_first_report(const char* name) {
  const NoSignals no_signals;
  pthread_mutex_lock(&reported_lock);
  bool is_first = true;
  for (const auto& known : reported()) is_first = is_first && known != name;
  if (is_first) reported().push_back(name);
  pthread_mutex_unlock(&reported_lock);
  return is_first;
}

/// The value, or nullptr if there is none to use; an empty one of anything but a text counts as
/// unset.
const char* given(const char* name) noexcept {
  const char* value = gasnett_getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

[[noreturn]] void refuse(const char* name, const char* value, const char* takes) {
  fatal("invalid %s=\"%s\": expected %s", name, value, takes);
}

}  // namespace

void tools_join_job(const char* (*lookup)(const char* name), bool is_reporter) noexcept {
  lookup_now.store(lookup);
  is_reporter_now.store(is_reporter);
}

bool tools_are_in_a_job() noexcept { return lookup_now.load() != own_environment; }

}  // namespace pinwire

using namespace pinwire;

extern "C" {

char* gasnett_getenv(const char* name) {
  return const_cast<char*>(lookup_now.load(std::memory_order_relaxed)(name));
}
void gasnett_setenv(const char* name, const char* value) {
  if (setenv(name, value, 1) != 0) fatal("gasnett_setenv: \"%s\" cannot be set", name);
}
void gasnett_unsetenv(const char* name) { unsetenv(name); }

int gasnett_verboseenv() {
  const char* value = given("GASNET_VERBOSEENV");
  return is_reporter_now.load(std::memory_order_relaxed) && value != nullptr &&
         parse_yes_no(value).value_or(true);
}

void gasnett_envstr_display(const char* name, const char* value, int is_default) {
  if (!gasnett_verboseenv() || !is_first_report(name)) return;
  log_note("environment: %s = %s%s", name, value != nullptr ? value : "*not set*",
           is_default ? "   (default)" : "");
}
void gasnett_envint_display(const char* name, int64_t value, int is_default, int is_memory) {
  char text[80];
  gasnett_envstr_display(name, gasnett_format_number(value, text, sizeof text, is_memory),
                         is_default);
}
void gasnett_envdbl_display(const char* name, double value, int is_default) {
  char text[80];
  std::snprintf(text, sizeof text, "%g", value);
  gasnett_envstr_display(name, text, is_default);
}

char* gasnett_getenv_withdefault(const char* name, const char* fallback) {
  char* value = gasnett_getenv(name);
  char* chosen = value != nullptr ? value : const_cast<char*>(fallback);
  gasnett_envstr_display(name, chosen, value == nullptr);
  return chosen;
}

int gasnett_getenv_yesno_withdefault(const char* name, int fallback) {
  const char* value = given(name);
  const auto yes = value != nullptr ? parse_yes_no(value) : fallback != 0;
  if (!yes) refuse(name, value, "yes or no");
  gasnett_envstr_display(name, *yes ? "YES" : "NO", value == nullptr);
  return *yes;
}

int64_t gasnett_getenv_int_withdefault(const char* name, int64_t fallback, uint64_t memory_unit) {
  const char* value = given(name);
  const auto number = value != nullptr ? number_of(value, memory_unit) : fallback;
  if (!number) {
    refuse(
        name, value,
        memory_unit == 0 ? "a whole number" : "a memory size: a number, perhaps with K, M, G or T");
  }
  gasnett_envint_display(name, *number, value == nullptr, memory_unit != 0);
  return *number;
}

double gasnett_getenv_dbl_withdefault(const char* name, double fallback) {
  const char* value = given(name);
  const auto real = value != nullptr ? parse_real(value) : fallback;
  if (!real) refuse(name, value, "a number, or a fraction of two");
  gasnett_envdbl_display(name, *real, value == nullptr);
  return *real;
}

}  // extern "C"
