#include "bench/flood/words/json_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "bench/flood/numbers/summary.h"

namespace pinwire::flood {
namespace {

using Json = nlohmann::ordered_json;

Json row_of(const std::string& driver, const Figures& row) {
  return {{"driver", driver},
          {"test", name(row.test)},
          {"op", name(row.operation)},
          {"bytes", row.bytes},
          {"depth", row.depth},
          {"p50_us", row.p50_us},
          {"p99_us", row.p99_us},
          {"p999_us", row.p999_us},
          {"msgs_per_s", row.messages_per_s},
          {"bytes_per_s", row.bytes_per_s},
          {"packets_per_s", row.packets_per_s},
          {"cpu_s", row.cpu_s}};
}

/// One object per line: easy to compare by eye and with diff.
std::string lines_of(const std::vector<Json>& objects) {
  std::string out = "[";
  for (const Json& object : objects) {
    out += (&object == objects.data() ? "\n" : ",\n") + object.dump();
  }
  return out + "\n]\n";
}

bool is_special_file(const std::string& path) {
  struct stat facts = {};
  return ::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

bool write_all(int fd, const std::string& contents) {
  size_t written = 0;
  while (written < contents.size()) {
    const ssize_t more = ::write(fd, contents.data() + written, contents.size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return false;
    written += static_cast<size_t>(more);
  }
  return true;
}

Error cannot_write(const std::string& path, int reason) {
  return error("cannot write the JSON file %s: %s; %s", path.c_str(), std::strerror(reason),
               reason == ENOSPC || reason == EDQUOT
                   ? "free some space or name a file on another file system"
                   : "name a file in a directory that exists and that you may write");
}

}  // namespace

std::string to_json(const std::string& driver, const std::vector<Figures>& rows) {
  std::vector<Json> objects;
  for (const Figures& row : rows) objects.push_back(row_of(driver, row));
  return lines_of(objects);
}

std::string references_json(const std::string& driver, const References& references) {
  std::vector<Json> objects;
  if (const auto& us = references.barriers_us; !us.empty()) {
    objects.push_back({{"driver", driver}, {"reference", "barrier"}, {"us", summarize(us).median}});
  }
  if (const auto& ns = references.line_round_trips_ns; !ns.empty()) {
    objects.push_back(
        {{"driver", driver}, {"reference", "cache_line"}, {"us", summarize(ns).median / 1e3}});
  }
  if (const auto& rates = references.memcpy_bytes_per_s; !rates.empty()) {
    objects.push_back({{"driver", driver},
                       {"reference", "memcpy"},
                       {"bytes", kMemcpyBytes},
                       {"bytes_per_s", summarize(rates).median}});
  }
  return lines_of(objects);
}

Status write_whole_file(const std::string& path, const std::string& contents) {
  // A device or a pipe (/dev/stdout, /dev/full) cannot be renamed over: written as it is.
  const bool special = is_special_file(path);
  std::string target = path;
  int fd = -1;
  if (special) {
    fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    target = path + ".XXXXXX";
    fd = ::mkostemp(target.data(), O_CLOEXEC);
  }
  if (fd < 0) return cannot_write(path, errno);
  bool good = write_all(fd, contents);
  if (good && !special) good = ::fchmod(fd, 0644) == 0 && ::fsync(fd) == 0;
  int reason = errno;
  if (::close(fd) != 0 && good) {
    good = false;
    reason = errno;
  }
  if (good && !special && ::rename(target.c_str(), path.c_str()) != 0) {
    good = false;
    reason = errno;
  }
  if (!good) {
    if (!special) ::unlink(target.c_str());
    return cannot_write(path, reason);
  }
  return success();
}

}  // namespace pinwire::flood
