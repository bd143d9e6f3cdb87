#include "driver/shm/inbox.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/descriptors/offered_files.h"
#include "core/base/descriptors/peer_file.h"
#include "core/base/files/file_inode.h"
#include "core/base/files/file_size.h"

namespace pinwire::shm {
namespace {

constexpr uint64_t ring_bytes(uint32_t slot_count) {
  return sizeof(RingControl) + 2 * uint64_t{slot_count} * kSlotBytes;  // the slots and the room
}
constexpr uint64_t outbox_at(uint32_t lanes, uint32_t slot_count) {
  return sizeof(InboxHeader) + 2 * lanes * ring_bytes(slot_count);
}
constexpr uint64_t inbox_bytes(uint32_t lanes, uint32_t slot_count) {
  const uint64_t outbox_bytes = uint64_t{kLentBuffers} * kLentStride;
  return align_up<uint64_t>(outbox_at(lanes, slot_count) + outbox_bytes, 4096);
}
static_assert(sizeof(InboxHeader) % kCacheLineBytes == 0);

}  // namespace

Inbox::~Inbox() {
  if (base_ != nullptr) munmap(base_, bytes_);
  close_offered_file(fd_);
}

Inbox::Inbox(Inbox&& other) noexcept { *this = std::move(other); }

Inbox& Inbox::operator=(Inbox&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(fd_, other.fd_);
  std::swap(lanes_, other.lanes_);
  std::swap(slot_count_, other.slot_count_);
  return *this;
}

Result<Inbox> Inbox::create(uint32_t lanes, uint32_t slot_count) {
  check(std::has_single_bit(slot_count), "rings whose slots are no power of two", slot_count);
  check(slot_count <= kSlotCountMax, "rings of more slots than an Extent counts", slot_count);
  check(lanes > 0, "an inbox without a lane");
  check(lanes <= kInboxLanesMax, "an inbox of more lanes than it has pipes for", lanes);
  Inbox inbox;
  inbox.lanes_ = lanes;
  inbox.slot_count_ = slot_count;
  inbox.bytes_ = inbox_bytes(lanes, slot_count);
  inbox.fd_ = memfd_create("pinwire-inbox", MFD_CLOEXEC);
  if (inbox.fd_ < 0 || resize_file(inbox.fd_, inbox.bytes_) != 0) {
    return error(
        "shm: cannot create %llu bytes of shared memory: %s. Free some memory, %s, or lower "
        "GASNET_NETWORKDEPTH.",
        static_cast<unsigned long long>(inbox.bytes_), std::strerror(errno), kRaiseFileSize);
  }
  offer_file(inbox.fd_);
  void* base =
      mmap(nullptr, inbox.bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, inbox.fd_, 0);
  if (base == MAP_FAILED) return error("shm: cannot map the inbox: %s", std::strerror(errno));
  inbox.base_ = static_cast<std::byte*>(base);
  inbox.header().probe_to_read = kInboxMagic * uint64_t{0x9e3779b97f4a7c15} + inbox.bytes_;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    for (auto cls : {MessageClass::kRequest, MessageClass::kReply}) {
      // Positions start at lap 1, so that fresh zeroes are never a message.
      const RingView ring = inbox.ring(lane, cls);
      const Extent empty{slot_count, slot_count};
      ring.control->tail.store(empty.packed(), std::memory_order_relaxed);
      ring.control->head.store(empty.packed(), std::memory_order_relaxed);
    }
  }
  return inbox;
}

Result<Inbox> Inbox::map(const InboxAddress& address) {
  if (address.magic != kInboxMagic || address.host_bytes != sizeof(InboxHeader) ||
      !std::has_single_bit(address.slot_count) || address.lanes == 0 ||
      address.lanes > kInboxLanesMax) {
    return error("shm: a peer's address has another format. Run the same build on every rank.");
  }
  Inbox inbox;
  inbox.lanes_ = address.lanes;
  inbox.slot_count_ = address.slot_count;
  inbox.bytes_ = inbox_bytes(address.lanes, address.slot_count);
  auto opened = open_peer_file(address.pid, address.fd, address.inode, inbox.bytes_);
  if (!opened) {
    return error("shm: the inbox of a peer on this host: %s. %s", opened.sentence().c_str(),
                 advice_on_peer_files());
  }
  void* base =
      mmap(nullptr, inbox.bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, *opened, 0);
  const int reason = errno;
  close(*opened);
  if (base == MAP_FAILED) return error("shm: cannot map a peer's inbox: %s", std::strerror(reason));
  inbox.base_ = static_cast<std::byte*>(base);
  return inbox;
}

InboxAddress Inbox::address() const noexcept {
  check(fd_ >= 0, "the address of a peer's inbox, which only its owner knows");
  return {kInboxMagic,
          getpid(),
          fd_,
          lanes_,
          slot_count_,
          sizeof(InboxHeader),
          reinterpret_cast<uint64_t>(base_),
          inode_of(fd_)};
}

RingView Inbox::ring(uint32_t lane, MessageClass cls) const noexcept {
  check(lane < lanes_, "a ring of a lane that the inbox has not", lane, lanes_);
  const uint64_t index = 2 * lane + (cls == MessageClass::kReply ? 1 : 0);
  std::byte* place = base_ + sizeof(InboxHeader) + index * ring_bytes(slot_count_);
  check(place + ring_bytes(slot_count_) <= base_ + outbox_at(lanes_, slot_count_),
        "a ring runs into the outbox behind the rings", lane, slot_count_);
  std::byte* slots = place + sizeof(RingControl);
  return {reinterpret_cast<RingControl*>(place), reinterpret_cast<Slot*>(slots),
          slots + uint64_t{slot_count_} * kSlotBytes, slot_count_};
}

OutboxView Inbox::outbox() const noexcept {
  const uint64_t at = outbox_at(lanes_, slot_count_);
  check(at % kCacheLineBytes == 0, "an outbox whose payloads are not aligned", at);
  check(at + uint64_t{kLentBuffers} * kLentStride <= bytes_, "an outbox runs past its inbox", at,
        bytes_);
  return {&header().lent, base_ + at};
}

}  // namespace pinwire::shm
