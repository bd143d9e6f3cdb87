#include "core/launch/again.h"

#include <fstream>

namespace pinwire::launch {

std::string again_path(const std::string& job_dir) { return job_dir + "/again"; }

std::vector<std::string> read_again(const std::string& path) {
  std::vector<std::string> assignments;
  std::ifstream file(path, std::ios::binary);
  for (std::string one; std::getline(file, one, '\0');) {
    const bool is_whole = !file.eof();  // ended by NUL
    if (is_whole && one.find('=') != 0 && one.find('=') != std::string::npos)
      assignments.push_back(one);
  }
  return assignments;
}

}  // namespace pinwire::launch
