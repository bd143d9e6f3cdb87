#include "core/interrupts/client_text.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

namespace pinwire {
namespace {

struct Range {
  uintptr_t begin = 0, end = 0;

  bool has(uintptr_t at) const noexcept { return at >= begin && at < end; }
};

constexpr uint32_t kRangesMax = 64;
constinit Range ranges[kRangesMax];
constinit std::atomic<uint32_t> range_count{0};
/// For those that add; not held while the dynamic linker is called, which has locks of its own.
constinit std::mutex lock;

template <typename Visit>
void for_each_text(const dl_phdr_info& object, Visit&& visit) noexcept {
  for (uint32_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    visit(Range{begin, begin + segment.p_memsz});
  }
}
bool has_text(const dl_phdr_info& object, uintptr_t at) noexcept {
  bool has = false;
  for_each_text(object, [&](const Range& text) { has = has || text.has(at); });
  return has;
}

/// The dynamic linker's list begins with the program, whose name is empty there.
bool is_static_program(const dl_phdr_info& object) noexcept {
  for (uint32_t i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type == PT_INTERP) return false;
  }
  return object.dlpi_name == nullptr || object.dlpi_name[0] == '\0';
}

/// In a program at a fixed address, malloc's address may be that of a stub which calls it.
bool defines_malloc(const dl_phdr_info& object) noexcept {
  void* const at = reinterpret_cast<void*>(&std::malloc);
  if (!has_text(object, reinterpret_cast<uintptr_t>(at))) return false;
  Dl_info names{};
  void* symbol = nullptr;
  if (dladdr1(at, &names, &symbol, RTLD_DL_SYMENT) == 0 || symbol == nullptr) return true;
  return names.dli_saddr == at && static_cast<const ElfW(Sym)*>(symbol)->st_shndx != SHN_UNDEF;
}

void add(const Range& text) noexcept {
  const std::lock_guard guard(lock);
  const uint32_t count = range_count.load(std::memory_order_relaxed);
  if (count == kRangesMax) return;
  ranges[count] = text;
  range_count.store(count + 1, std::memory_order_release);  // pairs with is_client_text()
}

struct Search {
  uintptr_t instruction;
  dl_phdr_info found;
};
/// For dl_iterate_phdr(), which holds a lock of the linker meanwhile: no question is asked of it.
int find_object(dl_phdr_info* object, size_t, void* search) noexcept {
  auto& wanted = *static_cast<Search*>(search);
  if (!has_text(*object, wanted.instruction)) return 0;
  wanted.found = *object;
  return 1;
}

}  // namespace

bool add_client_text(const void* function) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(function);
  if (is_client_text(at)) return true;
  Search search{at, {}};
  if (dl_iterate_phdr(find_object, &search) == 0) return false;
  // The object stays as long as the caller, which has a function of it, keeps it.
  const dl_phdr_info& object = search.found;
  if (!is_static_program(object) && !defines_malloc(object)) for_each_text(object, add);
  return is_client_text(at);
}

bool is_client_text(uintptr_t instruction) noexcept {
  const uint32_t count = range_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    if (ranges[i].has(instruction)) return true;
  }
  return false;
}

}  // namespace pinwire
