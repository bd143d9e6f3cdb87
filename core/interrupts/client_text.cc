#include "core/interrupts/client_text.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <new>

namespace pinwire {
namespace {

struct Range {
  uintptr_t begin = 0, end = 0;

  bool has(uintptr_t at) const noexcept { return at >= begin && at < end; }
};

/// A signal reads them at any moment, so a full one gets a successor, and none is ever freed.
struct Ranges {
  static constexpr uint32_t kMax = 64;
  Range range[kMax];
  std::atomic<uint32_t> count{0};
  std::atomic<Ranges*> next{nullptr};
};
constinit Ranges first_ranges;
/// For those that add; not held while the dynamic linker is called, which has locks of its own.
constinit std::mutex text_lock;

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

/// Without memory the text stays foreign: handlers run beside it, and not in it.
void add(const Range& text) noexcept {
  const std::lock_guard guard(text_lock);
  Ranges* last = &first_ranges;
  while (Ranges* next = last->next.load(std::memory_order_relaxed)) last = next;
  if (last->count.load(std::memory_order_relaxed) == Ranges::kMax) {
    auto* more = new (std::nothrow) Ranges;
    if (more == nullptr) return;
    last->next.store(more, std::memory_order_release);  // pairs with is_client_text()
    last = more;
  }
  const uint32_t count = last->count.load(std::memory_order_relaxed);
  last->range[count] = text;
  last->count.store(count + 1, std::memory_order_release);  // pairs with is_client_text()
}

/// The C library's two objects of mathematics are known by their names: /lib/libm.so.6.
bool is_mathematics(const dl_phdr_info& object) noexcept {
  if (object.dlpi_name == nullptr) return false;
  const char* slash = std::strrchr(object.dlpi_name, '/');
  const char* name = slash != nullptr ? slash + 1 : object.dlpi_name;
  for (const char* known : {"libm.so", "libmvec.so"}) {
    if (std::strncmp(name, known, std::strlen(known)) == 0) return true;
  }
  return false;
}
struct Found {
  dl_phdr_info objects[2];
  uint32_t count = 0;
};
/// It is called as find_object() is.
int find_mathematics(dl_phdr_info* object, size_t, void* found) noexcept {
  auto& all = *static_cast<Found*>(found);
  if (is_mathematics(*object)) all.objects[all.count++] = *object;
  return all.count == std::size(all.objects);
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

void add_mathematics() noexcept {
  Found found{};
  dl_iterate_phdr(find_mathematics, &found);
  for (uint32_t i = 0; i < found.count; ++i) for_each_text(found.objects[i], add);
}

bool is_client_text(uintptr_t instruction) noexcept {
  for (const Ranges* ranges = &first_ranges; ranges != nullptr;
       ranges = ranges->next.load(std::memory_order_acquire)) {
    const uint32_t count = ranges->count.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i) {
      if (ranges->range[i].has(instruction)) return true;
    }
  }
  return false;
}

}  // namespace pinwire
