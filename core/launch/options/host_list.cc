#include "core/launch/options/host_list.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "core/launch/loop/signals.h"
#include "core/launch/options/words.h"

namespace pinwire::launch {
namespace {

/// "[::1]" is how URLs write ::1, and no name that ssh knows.
std::string without_brackets(const std::string& host) {
  const bool has = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return has ? host.substr(1, host.size() - 2) : host;
}

void add_once(std::vector<std::string>& list, const std::string& written) {
  const auto host = without_brackets(written);
  if (std::find(list.begin(), list.end(), host) == list.end()) list.push_back(host);
}

}  // namespace

Result<std::vector<std::string>> read_host_file(const std::string& path) {
  const EndsBySignal reading;  // perhaps of a pipe that nobody writes to
  std::ifstream file(path);
  if (!file) return error("cannot read the host file %s: %s", path.c_str(), std::strerror(errno));
  std::vector<std::string> hosts;
  for (std::string line; std::getline(file, line);) {
    const auto words = split_words(line.substr(0, line.find('#')), " \t\r");
    if (words.size() > 1) {
      return error(
          "the host file %s says \"%s\" of %s: it takes a host's name on each line, no more",
          path.c_str(), words[1].c_str(), words[0].c_str());
    }
    if (!words.empty()) add_once(hosts, words[0]);
  }
  if (hosts.empty()) return error("the host file %s names no host", path.c_str());
  return hosts;
}

Result<std::vector<HostShare>> share_ranks(const LaunchOptions& options) {
  std::vector<std::string> hosts;
  for (const auto& host : options.hosts) add_once(hosts, host);
  if (hosts.empty() && !options.host_file.empty()) {
    auto read = read_host_file(options.host_file);
    if (!read) return read.error();
    hosts = *read;
  }
  if (hosts.empty())
    return error("no hosts are named: use --hosts, --hostfile or GASNET_SSH_SERVERS");
  for (const auto& host : hosts)
    if (host.starts_with('-')) return error("\"%s\" cannot be the name of a host", host.c_str());
  if (options.host_count > hosts.size())
    return error("-N asks for %u hosts, but only %zu are named", options.host_count, hosts.size());
  const auto host_count = static_cast<Rank>(std::min<size_t>(
      options.host_count > 0 ? options.host_count : hosts.size(), options.rank_count));
  std::vector<HostShare> shares;
  Rank first = 0;
  for (Rank i = 0; i < host_count; ++i) {
    const Rank count =
        options.rank_count / host_count + (i < options.rank_count % host_count ? 1 : 0);
    shares.push_back({hosts[i], first, count});
    first += count;
  }
  return shares;
}

}  // namespace pinwire::launch
