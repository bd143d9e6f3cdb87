#include "driver/dpdk/eal/huge_pages.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

namespace pinwire {
namespace {

uint64_t read_number(const std::filesystem::path& path) {
  unsigned long long value = 0;
  if (FILE* file = std::fopen(path.c_str(), "re")) {
    if (std::fscanf(file, "%llu", &value) != 1) value = 0;
    std::fclose(file);
  }
  return value;
}

}  // namespace

uint64_t huge_bytes_free(const char* sys_dir) {
  std::error_code failed;
  uint64_t bytes = 0;
  for (const auto& size : std::filesystem::directory_iterator(sys_dir, failed)) {
    unsigned long long page_kib = 0;
    if (std::sscanf(size.path().filename().c_str(), "hugepages-%llukB", &page_kib) != 1) continue;
    const uint64_t free = read_number(size.path() / "free_hugepages");
    const uint64_t reserved = read_number(size.path() / "resv_hugepages");
    if (free > reserved) bytes += (free - reserved) * page_kib * 1024;
  }
  return bytes;
}

}  // namespace pinwire
