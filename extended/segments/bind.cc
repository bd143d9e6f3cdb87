#include "extended/segments/bind.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/base/bits.h"
#include "core/base/files/file_inode.h"
#include "core/base/log.h"
#include "core/base/memory/page.h"
#include "core/trace/trace.h"
#include "extended/segments/bounce.h"
#include "extended/segments/publish.h"
#include "extended/state/job.h"
#include "pin/demand.h"
#include "pin/kernel/populate.h"

namespace pinwire {

/// The drivers' registrations of a segment; kept when the segment is gone, as other threads may
/// still look.
struct Registration {
  BoundRange range;
  BoundFacts facts{};
  Region regions[kDriversMax] = {};        ///< 0 bytes: none
  Buckets::Alone alone[kDriversMax] = {};  ///< likewise, of drivers that pin within a budget
};

namespace {

static_assert(kPageBytes == GASNET_PAGESIZE);

/// The registrations of bound endpoints; written by one thread at a time, read by handlers.
std::atomic<const Registration*> bound_to[kEndpointsMax];
std::mutex registering;
uint64_t serials = 0;  // under it

/// The pages that the segment lies on: what a device registers.
struct Pages {
  std::byte* base;
  uint64_t bytes;
};
Pages pages_of(const pinwire_segment& segment) noexcept {
  check(segment.bytes != 0, "a segment of no bytes");
  const auto base = reinterpret_cast<uint64_t>(segment.base);
  const uint64_t from = base & ~(kPageBytes - 1);
  return {reinterpret_cast<std::byte*>(from), align_up(base + segment.bytes, kPageBytes) - from};
}

/// Devices that need a key reach nothing else; a budget is kept to where there is one.
Status pin_for_device(uint32_t index, const Pages& pages, Registration& made) {
  DriverSlot& slot = engine.drivers[index];
  Region& region = made.regions[index];
  check(region.bytes == 0, "a segment is registered twice with a driver", index);
  if (demands[index] != nullptr) {
    made.alone[index] = demands[index]->own.pin_alone(pages.base, pages.bytes);
    region = made.alone[index].region;
    if (region.bytes == 0) return error("the device, or GASNET_PIN_BUDGET, allows no more pins");
  } else {
    auto pinned = slot.driver->pin(pages.base, pages.bytes, -1, 0);
    if (!pinned) return pinned.error();
    region = *pinned;
  }
  made.range.local_keys[index] = region.local_key;
  return success();
}

/// The library's memory may be sent in place; the client's, which may go away, is not attached to
/// anything where the driver can do without.
Status expose_or_pin(uint32_t index, const pinwire_segment& segment, Registration& made) {
  const Pages pages = pages_of(segment);
  DriverSlot& slot = engine.drivers[index];
  if (slot.caps.needs_local_key) return pin_for_device(index, pages, made);
  const int fd = segment.memory.fd;
  auto region = Result<Region>(error("not tried"));
  if (fd >= 0 || !slot.caps.exposes) region = slot.driver->pin(pages.base, pages.bytes, fd, 0);
  if (!region && slot.caps.exposes) region = slot.driver->expose(pages.base, pages.bytes);
  if (!region) return region.error();
  check(region->bytes >= pages.bytes, "a driver knows less than the segment", region->bytes,
        pages.bytes);
  made.regions[index] = *region;
  made.range.local_keys[index] = region->local_key;
  return success();
}

Status tell_driver(uint32_t index, const pinwire_segment& segment, Registration& made) {
  const Caps& caps = engine.drivers[index].caps;
  made.facts.reach[index] = Reach::kWhole;
  const Status told = expose_or_pin(index, segment, made);
  if (told) {
    made.facts.keys[index] = made.regions[index].key_to_get();
    const bool one_key = made.regions[index].remote_key == made.regions[index].key_to_get();
    check(one_key, "a region of known memory has one key for reading and writing", index);
    return told;
  }
  // A reply by several messages is more than such a receiver has room for.
  if (caps.bounded_replies) return told;
  made.facts.reach[index] = Reach::kMessages;  // which are always there
  if (job()->settings.verbose_env) {
    log_note("messages carry puts and gets to a bound segment of this rank: %s",
             told.sentence().c_str());
  }
  return success();
}

void deregister_all(const Registration& made) noexcept {
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    if (made.alone[d].region.bytes != 0) {
      demands[d]->own.unpin_alone(made.alone[d]);
    } else if (made.facts.is_device && made.regions[d].bytes != 0 && demands[d] != nullptr) {
      demands[d]->own.unpin_device(made.regions[d]);
    } else if (made.regions[d].bytes != 0) {
      DriverSlot& slot = engine.drivers[d];
      slot.lock_lanes(engine.spins_now);  // frames that wait in them may point there
      const Status unpinned = slot.driver->unpin(made.regions[d]);
      slot.unlock_lanes();
      if (!unpinned) log_warning("%s", unpinned.sentence().c_str());
    }
  }
}

/// Large transfers go by all rails from memory that one of them knows (Engine::stripe_min).
void agree_on_rails(BoundRange& range) noexcept {
  check(engine.rail_first + engine.rail_count <= kDriversMax, "more rails than drivers",
        engine.rail_first, engine.rail_count);
  uint32_t* keys = range.local_keys + engine.rail_first;
  const bool are_all =
      std::find(keys, keys + engine.rail_count, kNoRegion) == keys + engine.rail_count;
  if (!are_all) std::fill_n(keys, engine.rail_count, kNoRegion);
}

/// A driver whose NIC reads and writes device memory itself; not one whose work CPUs do.
Status register_with_nic(uint32_t index, DeviceMemory& device, const Pages& pages,
                         Registration& made) {
  if (!engine.drivers[index].caps.hw_rdma) return error("this driver's work is done by CPUs");
  auto dmabuf = device.export_dmabuf(pages.base, pages.bytes);
  if (!dmabuf) return dmabuf.error();
  Demand* demand = demands[index];
  auto region = demand != nullptr
                    ? demand->own.pin_device(pages.base, pages.bytes, *dmabuf)
                    : engine.drivers[index].driver->pin_device(pages.base, pages.bytes, *dmabuf);
  close(*dmabuf);  // a registration has its own reference
  if (!region) return region.error();
  made.regions[index] = *region;
  made.range.local_keys[index] = region->local_key;
  made.facts.keys[index] = region->remote_key;
  made.facts.reach[index] = Reach::kWhole;
  return success();
}

/// Registers device memory: from now on transfers look whether they meet it. The headers' inlined
/// transfers cannot look. Device memory that no NIC reaches is staged, or goes by messages.
void tell_of_device(const pinwire_segment& segment, Registration& made) {
  DeviceMemory& device = *segment.kind->device;
  made.range.device = &device;
  made.facts.is_device = true;
  std::fill_n(made.facts.reach, kDriversMax, Reach::kDevice);
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    const Status told = register_with_nic(d, device, pages_of(segment), made);
    const char* how = told ? "directly" : "by copies of its library";
    trace_line('O', "%s reaches a segment of %s %s", engine.drivers[d].label, device.label(), how);
    if (job()->settings.verbose_env) {
      log_note("%s reaches a segment of %s %s%s%s", engine.drivers[d].label, device.label(), how,
               told ? "" : ": ", told ? "" : told.sentence().c_str());
    }
  }
  open_bounces();
  engine.has_devices.store(true, std::memory_order_relaxed);
  keep_headers_out();
}

Status fill_registration(const pinwire_segment& segment, Registration& made) {
  made.range.base = reinterpret_cast<uint64_t>(segment.base);
  made.range.bytes = segment.bytes;
  made.facts.base = made.range.base;
  made.facts.bytes = made.range.bytes;
  made.facts.serial = ++serials;
  made.facts.pid = job()->ranks[engine.rank].pid;
  made.facts.fd = segment.memory.fd;
  made.facts.inode = inode_of(segment.memory.fd);
  if (segment.kind != nullptr) {
    tell_of_device(segment, made);
    agree_on_rails(made.range);
    return success();
  }
  if (job()->shm != nullptr && segment.memory.fd < 0) job()->shm->allow_peer_processes();
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    if (auto told = tell_driver(d, segment, made); !told) return told;
  }
  agree_on_rails(made.range);
  return success();
}

/// Lives on after the segment.
Result<const Registration*> registration_of(pinwire_segment& segment) {
  if (segment.registration != nullptr) return segment.registration;
  auto* made = new Registration;
  Status filled = fill_registration(segment, *made);
  if (filled && !engine.bound.add(made->range)) {
    filled = error("%u segments are bound; destroy some", BoundRanges::kRangesMax);
  }
  if (!filled) {
    deregister_all(*made);
    delete made;
    return filled.error();
  }
  segment.registration = made;
  return segment.registration;
}

}  // namespace

Result<pinwire_segment*> create_segment_object(pinwire_client* client, void* base, uint64_t bytes) {
  auto* segment = new pinwire_segment{client, base, bytes};
  if (base == nullptr) {
    segment->bytes = align_up(bytes, kPageBytes);
    auto memory = create_segment_memory(segment->bytes, job()->settings.hugepages);
    if (!memory) {
      delete segment;
      return memory.error();
    }
    segment->memory = *memory;
    segment->base = memory->base;
  }
  trace_line('O', "segment of %llu bytes at %p created",
             static_cast<unsigned long long>(segment->bytes), segment->base);
  return segment;
}

Result<pinwire_segment*> create_device_segment(pinwire_client* client, pinwire_mk& kind, void* base,
                                               uint64_t bytes) {
  auto* segment = new pinwire_segment{client, base, bytes};
  segment->kind = &kind;
  if (base == nullptr) {
    segment->bytes = align_up(bytes, kPageBytes);
    auto memory = kind.device->allocate(segment->bytes);
    if (!memory) {
      delete segment;
      return memory.error();
    }
    segment->base = *memory;
    segment->is_owned_by_library = true;
  }
  kind.segments.fetch_add(1, std::memory_order_relaxed);
  trace_line('O', "segment of %llu bytes at %p created in memory of %s",
             static_cast<unsigned long long>(segment->bytes), segment->base, kind.device->label());
  return segment;
}

void destroy_segment_object(pinwire_segment* segment) {
  const std::lock_guard guard(registering);
  if (const Registration* made = segment->registration; made != nullptr) {
    for (auto& slot : bound_to) {
      if (slot.load(std::memory_order_relaxed) == made) slot.store(nullptr);
    }
    engine.bound.remove(made->range);
    deregister_all(*made);
  }
  // Peers may have it mapped still: the pages go, their mappings stay empty.
  if (segment->memory.fd >= 0 && ftruncate(segment->memory.fd, 0) != 0) {
    log_warning("the pages of a destroyed segment stay in memory until the job ends");
  }
  release_segment_memory(segment->memory);
  if (pinwire_mk* kind = segment->kind; kind != nullptr) {
    if (segment->is_owned_by_library) kind->device->release(segment->base);
    const uint32_t before = kind->segments.fetch_sub(1, std::memory_order_relaxed);
    check(before != 0, "more segments of a kind end than begin");
  }
  delete segment;
}

Status bind_segment(pinwire_ep& endpoint, pinwire_segment& segment) {
  const std::lock_guard guard(registering);
  check(objects.endpoints[endpoint.index] == &endpoint, "an endpoint of another index",
        endpoint.index);
  check(endpoint.segment == nullptr, "an endpoint has one segment", endpoint.index);
  auto made = registration_of(segment);
  if (!made) return made.error();
  bound_to[endpoint.index].store(*made, std::memory_order_release);  // pairs with own_bound_facts()
  endpoint.segment = &segment;
  return success();
}

BoundFacts own_bound_facts(uint32_t endpoint) noexcept {
  const Registration* made =
      endpoint < kEndpointsMax ? bound_to[endpoint].load(std::memory_order_acquire) : nullptr;
  BoundFacts facts = made != nullptr ? made->facts : BoundFacts{};
  facts.endpoint = endpoint;
  return facts;
}

}  // namespace pinwire
