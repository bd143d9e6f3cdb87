#include "core/job/host.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

}  // namespace pinwire
