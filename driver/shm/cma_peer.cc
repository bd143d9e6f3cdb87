#include "driver/shm/cma_peer.h"

#include <cstddef>
#include <cstring>

#include "driver/shm/cma.h"

namespace pinwire::shm {

Status CmaPeer::reach(Rank peer, const InboxHeader& header) {
  uint64_t word = 0;
  CmaCopy tried =
      read_by_cma(pid_, inbox_base_ + offsetof(InboxHeader, probe_to_read), &word, sizeof word);
  if (tried.reason == 0) {
    check(word == header.probe_to_read, "the kernel reads other memory than is mapped", word);
    tried =
        write_by_cma(pid_, inbox_base_ + offsetof(InboxHeader, probe_to_write), &word, sizeof word);
  }
  if (tried.reason != 0) {
    return error(
        "the kernel does not let this process reach the memory of rank %u (process_vm_readv: %s; "
        "see /proc/sys/kernel/yama/ptrace_scope, or the container's seccomp profile)",
        peer, std::strerror(tried.reason));
  }
  is_reached_ = true;
  return success();
}

WorkStatus CmaPeer::transfer(const Work& item, Op op, FailureNote& failure) const noexcept {
  if (!is_reached_) return WorkStatus::kRemoteAccess;
  check(op == Op::kPut || op == Op::kGet, "an atomic on memory that is not mapped here",
        static_cast<int>(op), item.remote);
  const bool is_put = op == Op::kPut;
  const CmaCopy copied = is_put ? write_by_cma(pid_, item.remote, item.local, item.bytes)
                                : read_by_cma(pid_, item.remote, item.local, item.bytes);
  if (copied.reason == 0) return WorkStatus::kOk;
  check(copied.left <= item.bytes, "the kernel left more bytes than it was to copy", copied.left,
        item.bytes);
  failure.record(item.peer, WorkStatus::kRemoteAccess,
                 "a %s of %llu bytes at 0x%llx of rank %u stopped after %llu of them: %s; that "
                 "memory must be there and allow it, and so must %p here",
                 is_put ? "put" : "get", static_cast<unsigned long long>(item.bytes),
                 static_cast<unsigned long long>(item.remote), item.peer,
                 static_cast<unsigned long long>(item.bytes - copied.left),
                 std::strerror(copied.reason), item.local);
  return WorkStatus::kRemoteAccess;
}

WorkStatus CmaPeer::scatter(const Work& item, FailureNote& failure) const noexcept {
  if (!is_reached_) return WorkStatus::kRemoteAccess;
  const CmaCopy copied =
      scatter_by_cma(pid_, item.remote, static_cast<const std::byte*>(item.local),
                     static_cast<uint32_t>(item.bytes));
  if (copied.reason == 0) return WorkStatus::kOk;
  failure.record(
      item.peer, WorkStatus::kRemoteAccess,
      "a put of many pieces near 0x%llx of rank %u stopped with %llu bytes left: %s; that "
      "memory must be there and allow it",
      static_cast<unsigned long long>(item.remote), item.peer,
      static_cast<unsigned long long>(copied.left), std::strerror(copied.reason));
  return WorkStatus::kRemoteAccess;
}

}  // namespace pinwire::shm
