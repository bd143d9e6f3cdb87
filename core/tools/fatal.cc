// The end of a program: sentences, debuggers, backtraces. In a job its settings say what a fatal
// error does; without one the environment does, when it is first needed.
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "core/base/log.h"
#include "core/debug/backtrace.h"
#include "core/debug/error_policy.h"
#include "core/debug/freeze.h"
#include "core/tools/api.h"
#include "core/tools/client_backtrace.h"
#include "core/tools/host_program.h"

namespace pinwire {
namespace {

void prepare_from_environment() noexcept {
  add_client_backtrace();
  const char* types = gasnett_getenv("GASNET_BACKTRACE_TYPE");
  prepare_backtraces(types != nullptr ? types : "", kThreads);
}

/// Fatal signals are taken only if somebody wants to know of them.
void adopt_policy_of_environment() noexcept {
  static bool is_adopted = false;
  if (tools_are_in_a_job() || is_adopted) return;
  is_adopted = true;
  prepare_from_environment();
  ErrorPolicy policy;
  policy.backtrace = gasnett_getenv_yesno_withdefault("GASNET_BACKTRACE", 0) != 0;
  policy.freeze = gasnett_getenv_yesno_withdefault("GASNET_FREEZE_ON_ERROR", 0) != 0;
  if (!policy.backtrace && !policy.freeze) policy.left_alone = ~SignalSet{0};
  set_error_policy(policy);
}

int print_if_enabled(int fd) {
  adopt_policy_of_environment();
  return print_backtrace_if_asked(fd);
}

[[noreturn]] void fail(const char* place, const char* format, va_list values) noexcept {
  char sentence[1024];
  std::vsnprintf(sentence, sizeof sentence, format, values);
  adopt_policy_of_environment();
  fatal("%s%s", sentence, place);
}

}  // namespace

void add_client_backtrace() noexcept {
  static bool is_added = false;
  const auto& user = gasnett_backtrace_user;
  if (is_added || user.fnp == nullptr || user.name == nullptr) return;
  is_added = true;
  add_backtrace_type({user.name, user.fnp, user.threadsupport != 0});
}

}  // namespace pinwire

using namespace pinwire;

extern "C" {

[[gnu::weak]] gasnett_backtrace_type_t gasnett_backtrace_user = {nullptr, nullptr, 0};
int (*gasnett_print_backtrace_ifenabled)(int fd) = print_if_enabled;

void gasnett_backtrace_init(const char*) {
  prepare_from_environment();
  adopt_policy_of_environment();
}

int gasnett_print_backtrace(int fd) {
  adopt_policy_of_environment();
  return print_backtrace(fd);
}

void pinwire_fatal_at(const char* function, const char* file, int line, const char* format, ...) {
  char place[512];
  std::snprintf(place, sizeof place, " (in %s at %s:%d)", function, file, line);
  va_list values;
  va_start(values, format);
  fail(place, format, values);
}

void gasnett_fatalerror_nopos(const char* format, ...) {
  va_list values;
  va_start(values, format);
  fail("", format, values);
}

void gasnett_killmyprocess(int exitcode) { _exit(exitcode); }

char* pinwire_current_location(const char* function, const char* file, int line) {
  char* text = nullptr;
  if (asprintf(&text, "%s at %s:%d", function, file, line) < 0) fatal("no memory for a location");
  return text;
}

void gasnett_freezeForDebuggerNow(volatile int* flag, const char* flag_name) {
  freeze("as the program asks", *flag, flag_name);
}

void gasnett_freezeForDebuggerErr() {
  adopt_policy_of_environment();
  freeze_if_asked();
}

}  // extern "C"
