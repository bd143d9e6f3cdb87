// Texts cut into words.
#pragma once

#include <string>
#include <vector>

namespace pinwire::launch {

std::vector<std::string> split_words(const std::string& text, const char* separators);

}  // namespace pinwire::launch
