#include "core/launch/options/words.h"

#include <algorithm>

namespace pinwire::launch {

std::vector<std::string> split_words(const std::string& text, const char* separators) {
  std::vector<std::string> list;
  for (size_t at = text.find_first_not_of(separators); at != std::string::npos;) {
    const auto end = std::min(text.find_first_of(separators, at), text.size());
    list.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  return list;
}

}  // namespace pinwire::launch
