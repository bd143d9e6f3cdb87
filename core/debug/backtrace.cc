#include "core/debug/backtrace.h"

#include <execinfo.h>
#include <link.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "core/debug/debug_program.h"

namespace pinwire {
namespace {

constexpr int kFramesMax = 64;
constexpr int kLimitSeconds = 20;  ///< reading a large program's lines takes gdb seconds
constexpr int kTypesMax = 4;

int write_with_gdb(int fd) noexcept;
int write_with_execinfo(int fd) noexcept;

BacktraceType known[kTypesMax] = {{"GDB", write_with_gdb, true},
                                  {"EXECINFO", write_with_execinfo, false}};
int known_count = 2;
BacktraceType chosen[kTypesMax];
int chosen_count = 0;
bool shows_all_threads = true;
std::atomic<bool> busy{false};

DebugProgram gdb, addr2line;
/// Where the program itself lies; its own lines alone are looked up.
uintptr_t program_base = 0, program_low = UINTPTR_MAX, program_high = 0;
char program_path[PATH_MAX] = "/proc/self/exe";

bool write_text(int fd, const char* text, size_t bytes) noexcept {
  while (bytes != 0) {
    const ssize_t wrote = write(fd, text, bytes);
    if (wrote <= 0) return false;
    text += wrote;
    bytes -= static_cast<size_t>(wrote);
  }
  return true;
}

/// The lines that are of a backtrace, without what else a debugger has to say.
int write_frames(int fd, const ProgramOutput& output) noexcept {
  int frames = 0;
  const char* end = output.text + output.bytes;
  for (const char* line = output.text; line < end;) {
    const void* found = std::memchr(line, '\n', static_cast<size_t>(end - line));
    const char* next = found != nullptr ? static_cast<const char*>(found) + 1 : end;
    const auto bytes = static_cast<size_t>(next - line);
    const bool is_thread = bytes > 7 && std::memcmp(line, "Thread ", 7) == 0;
    if (*line == '#') ++frames;
    if (*line == '#' || is_thread) write_text(fd, line, bytes);
    line = next;
  }
  return frames != 0 ? 0 : -1;
}

int write_with_gdb(int fd) noexcept {
  char thread[16];
  std::snprintf(thread, sizeof thread, "%d", shows_all_threads ? getpid() : gettid());
  const char* show = shows_all_threads ? "thread apply all backtrace" : "backtrace";
  const char* arguments[] = {"gdb", "-q", "-nx", "-batch", "-ex",  "set width 0",
                             "-ex", show, "-p",  thread,   nullptr};
  ProgramOutput output = run_debug_program(gdb, arguments, kLimitSeconds);
  const int result = write_frames(fd, output);
  release(output);
  return result;
}

void write_lines(int fd, void* const* frames, int count) noexcept {
  char offsets[kFramesMax][20];
  const char* arguments[kFramesMax + 4] = {"addr2line", "-fpiCa", "-e", program_path};
  constexpr int kBefore = 4;
  int used = 0;
  for (int i = 0; i < count && used < kFramesMax - 1; ++i) {
    const auto address = reinterpret_cast<uintptr_t>(frames[i]);
    if (address < program_low || address >= program_high) continue;
    // A return address may be of the next line already, or of the next function.
    std::snprintf(offsets[used], sizeof offsets[used], "0x%lx", address - program_base - 1);
    arguments[kBefore + used] = offsets[used];
    ++used;
  }
  if (used == 0) return;
  arguments[kBefore + used] = nullptr;
  ProgramOutput output = run_debug_program(addr2line, arguments, kLimitSeconds);
  write_text(fd, output.text, output.bytes);
  release(output);
}

int write_with_execinfo(int fd) noexcept {
  void* frames[kFramesMax];
  const int count = backtrace(frames, kFramesMax);
  if (count == 0) return -1;
  backtrace_symbols_fd(frames, count, fd);
  write_lines(fd, frames, count);
  return 0;
}

int note_program(dl_phdr_info* info, size_t, void*) noexcept {
  program_base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const uintptr_t low = program_base + part.p_vaddr;
    if (low < program_low) program_low = low;
    if (low + part.p_memsz > program_high) program_high = low + part.p_memsz;
  }
  return 1;  // the program is the first; nothing more is wanted
}

bool choose(std::string_view name) noexcept {
  for (int i = 0; i < known_count; ++i) {
    if (std::strlen(known[i].name) != name.size() ||
        strncasecmp(known[i].name, name.data(), name.size()) != 0) {
      continue;
    }
    if (chosen_count < kTypesMax) chosen[chosen_count++] = known[i];
    return true;
  }
  return false;
}

std::string_view choose_all(std::string_view names) noexcept {
  std::string_view unknown;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    if (!name.empty() && !choose(name) && unknown.empty()) unknown = name;
    names.remove_prefix(name.size() < names.size() ? name.size() + 1 : name.size());
  }
  return unknown;
}

}  // namespace

std::string_view prepare_backtraces(std::string_view types, bool all_threads) noexcept {
  gdb = find_debug_program("gdb");
  addr2line = find_debug_program("addr2line");
  dl_iterate_phdr(note_program, nullptr);
  const ssize_t length = readlink("/proc/self/exe", program_path, sizeof program_path - 1);
  if (length > 0) program_path[length] = '\0';
  void* frame;
  backtrace(&frame, 1);  // the first call loads a library, which no signal handler may
  shows_all_threads = all_threads;
  chosen_count = 0;
  std::string_view unknown;
  if (types.empty()) {
    for (int i = known_count; i-- > 2;) choose(known[i].name);  // the client's
    choose_all(kBacktraceTypes);
  } else {
    unknown = choose_all(types);
  }
  if (all_threads) {
    std::stable_partition(chosen, chosen + chosen_count,
                          [](const BacktraceType& type) { return type.all_threads; });
  }
  return unknown;
}

void add_backtrace_type(const BacktraceType& type) noexcept {
  if (known_count < kTypesMax) known[known_count++] = type;
}

int print_backtrace(int fd) noexcept {
  if (chosen_count == 0) prepare_backtraces({}, shows_all_threads);
  if (busy.exchange(true)) return -1;  // another thread's, or a crash while one was made
  int result = -1;
  for (int i = 0; i < chosen_count && result != 0; ++i) result = chosen[i].write(fd);
  busy.store(false);
  return result;
}

}  // namespace pinwire
