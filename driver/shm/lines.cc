#include "driver/shm/lines.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/descriptors/offered_files.h"
#include "core/base/descriptors/peer_file.h"
#include "core/base/files/file_inode.h"
#include "core/base/files/file_size.h"
#include "core/base/threads/membarrier.h"

namespace pinwire::shm {

Lines::~Lines() {
  if (header_ != nullptr) munmap(header_, sizeof(Header));
  close_file();
}

Lines& Lines::operator=(Lines&& other) noexcept {
  std::swap(header_, other.header_);
  std::swap(fd_, other.fd_);
  return *this;
}

void Lines::close_file() noexcept { close_offered_file(std::exchange(fd_, -1)); }

LinesAddress Lines::address() const noexcept {
  check(fd_ >= 0, "the address of lines whose file is closed");
  return {getpid(), fd_, inode_of(fd_)};
}

/// Takes the file over.
Result<Lines> Lines::of_file(int fd, bool is_own) {
  Lines lines;
  lines.fd_ = fd;
  struct stat facts {};
  if (fd < 0 || (is_own && resize_file(fd, sizeof(Header)) != 0) || fstat(fd, &facts) != 0) {
    return error("cannot open the lines of barriers in shared memory: %s%s%s", std::strerror(errno),
                 errno == EFBIG ? "; " : "", errno == EFBIG ? kRaiseFileSize : "");
  }
  // To touch a page that a file has not kills.
  if (facts.st_size != sizeof(Header)) return error("the lines of a rank's barriers are another's");
  void* base =
      mmap(nullptr, sizeof(Header), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (base == MAP_FAILED) {
    return error("cannot map the lines of barriers in shared memory: %s", std::strerror(errno));
  }
  lines.header_ = static_cast<Header*>(base);
  return lines;
}

Result<Lines> Lines::create(uint64_t job_key, Rank rank) {
  auto lines = of_file(memfd_create("pinwire-lines", MFD_CLOEXEC), true);
  if (!lines) return lines;
  lines->header_->owner = {job_key, rank, kBarrierLines};
  offer_file(lines->fd_);
  if (!register_process_barriers()) lines->tell_owner();
  return lines;
}

Result<Lines> Lines::map(const LinesAddress& address, uint64_t job_key, Rank rank) {
  auto opened = open_peer_file(address.pid, address.fd, address.inode, sizeof(Header));
  if (!opened) return error("the lines of a rank's barriers: %s", opened.sentence().c_str());
  auto lines = of_file(*opened, false);
  if (!lines) return lines;
  if (lines->header_->owner != LinesOwner{job_key, rank, kBarrierLines}) {
    return error("descriptor %d of process %d is not of rank %u", address.fd, address.pid, rank);
  }
  lines->close_file();
  return lines;
}

void Lines::tell_owner() const noexcept {
  check(header_ != nullptr, "the owner of lines that are not mapped");
  for (BarrierLines& both : header_->barriers) {
    both.here.sleeps.store(1, std::memory_order_relaxed);
    both.over.sleeps.store(1, std::memory_order_relaxed);
  }
}

}  // namespace pinwire::shm
