#include "core/job/host.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/base/hash.h"

namespace pinwire {
namespace {

uint64_t mix_file(uint64_t hash, const char* path) noexcept {
  char text[64] = {};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return hash;
  const ssize_t count = read(fd, text, sizeof text);
  close(fd);
  return count > 0 ? hash_more(hash, text, static_cast<size_t>(count)) : hash;
}

uint64_t mix_namespace(uint64_t hash, const char* path) noexcept {
  struct stat facts {};
  if (stat(path, &facts) != 0) return hash;
  return hash_more(hash, &facts.st_ino, sizeof facts.st_ino);
}

}  // namespace

uint64_t host_identity(HostDetect how) noexcept {
  uint64_t hash = kHashStart;
  if (how == HostDetect::kGethostid) {
    const long id = gethostid();
    return hash_more(hash, &id, sizeof id);
  }
  if (how == HostDetect::kHostname) {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return hash_more(hash, name, std::strlen(name));
  }
  hash = mix_file(hash, "/proc/sys/kernel/random/boot_id");
  hash = mix_namespace(hash, "/proc/self/ns/pid");
  hash = mix_namespace(hash, "/proc/self/ns/net");
  const uid_t user = geteuid();
  return hash_more(hash, &user, sizeof user);
}

uint32_t usable_processors() noexcept {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<uint32_t>(std::max(CPU_COUNT(&set), 1));
}

uint32_t usable_processors_hash() {
  const std::string list = usable_processor_list();
  return hash_fold(hash_more(kHashStart, list.data(), list.size()));
}

std::string usable_processor_list() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "?";
  std::string text;
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    size_t last = cpu;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(cpu);
    if (last != cpu) text += "-" + std::to_string(last);
    cpu = last;
  }
  return text;
}

}  // namespace pinwire
