#include "extended/api/kept_names.h"

#include <cstdio>
#include <cstring>

#include "core/base/check.h"

namespace pinwire {
namespace {

bool is_name(const char* kept, const char* owner, const char* name) noexcept {
  const size_t owner_bytes = std::strlen(owner);
  return std::strncmp(kept, owner, owner_bytes) == 0 && kept[owner_bytes] == '.' &&
         std::strcmp(kept + owner_bytes + 1, name) == 0;
}

}  // namespace

const char* KeptNames::find(const char* owner, const char* name, size_t from, size_t to) noexcept {
  while (from < to) {
    const char* kept = &memory_[from];
    from += std::strlen(kept) + 1;
    if (!is_name(kept, owner, name)) continue;
    next_ = from;
    return kept;
  }
  return nullptr;
}

const char* KeptNames::add(const char* owner, const char* name) noexcept {
  const size_t bytes = std::strlen(owner) + 1 + std::strlen(name) + 1;
  if (bytes > memory_.size() - used_bytes_) return nullptr;
  char* kept = &memory_[used_bytes_];
  std::snprintf(kept, bytes, "%s.%s", owner, name);
  used_bytes_ += bytes;
  dcheck(used_bytes_ <= memory_.size(), "names behind their memory", used_bytes_);
  next_ = used_bytes_;
  return kept;
}

const char* KeptNames::keep(const char* owner, const char* name) noexcept {
  const std::lock_guard held(lock_);
  dcheck(next_ <= used_bytes_, "a name behind the last one", next_, used_bytes_);
  const size_t asked_last = next_;
  const char* kept = find(owner, name, asked_last, used_bytes_);
  if (kept == nullptr) kept = find(owner, name, 0, asked_last);
  return kept != nullptr ? kept : add(owner, name);
}

}  // namespace pinwire
