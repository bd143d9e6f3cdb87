#include "core/bootstrap/environment_block.h"

#include <cstring>

namespace pinwire::bootstrap {

EnvironmentBlock::EnvironmentBlock(const char* const* environment) {
  for (; *environment != nullptr; ++environment)
    text_.insert(text_.end(), *environment, *environment + std::strlen(*environment) + 1);
}

EnvironmentBlock::EnvironmentBlock(Bytes block) {
  const auto* text = reinterpret_cast<const char*>(block.data());
  text_.assign(text, text + block.size());
  while (!text_.empty() && text_.back() != '\0') text_.pop_back();
}

const char* EnvironmentBlock::find(std::string_view name) const noexcept {
  for (size_t at = 0; at < text_.size();) {
    const std::string_view entry(text_.data() + at);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.data() + name.size() + 1;
    at += entry.size() + 1;
  }
  return nullptr;
}

}  // namespace pinwire::bootstrap
