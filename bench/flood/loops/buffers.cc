#include "bench/flood/loops/buffers.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace pinwire::flood {
namespace {

enum Area : uint32_t { kIncoming, kServed, kOutgoing, kFetched };

/// The byte that rank `rank` serves to gets at `offset`.
std::byte pattern(gasnet_node_t rank, uint64_t offset) {
  return static_cast<std::byte>((offset * 0x9e3779b97f4a7c15u >> 56) + rank + 1);
}

std::byte* area(const gasnet_seginfo_t& segment, Area which, uint64_t buffer_bytes) {
  return static_cast<std::byte*>(segment.addr) + which * buffer_bytes;
}

Result<std::byte*> heap_area(uint64_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return error("cannot map %llu bytes of memory for --buffers heap: %s",
                 static_cast<unsigned long long>(bytes), std::strerror(errno));
  }
  return static_cast<std::byte*>(memory);
}

}  // namespace

uintptr_t segment_bytes(uint64_t buffer_bytes) {
  const uintptr_t page = GASNET_PAGESIZE;
  return (kAreas * buffer_bytes + page - 1) / page * page;
}

Result<Path> make_path(gasnet_node_t partner, uint64_t buffer_bytes, bool in_heap) {
  const gasnet_node_t ranks = gasnet_nodes();
  std::vector<gasnet_seginfo_t> segments(ranks);
  gasnet_getSegmentInfo(segments.data(), static_cast<int>(ranks));
  for (gasnet_node_t rank = 0; rank < ranks; ++rank) {
    if (segments[rank].size < kAreas * buffer_bytes) {
      return error(
          "the segment of rank %u has %llu bytes, flood needs %llu; allow more locked or "
          "shared memory, or choose smaller --sizes",
          rank, static_cast<unsigned long long>(segments[rank].size),
          static_cast<unsigned long long>(kAreas * buffer_bytes));
    }
  }
  const gasnet_seginfo_t& mine = segments[gasnet_mynode()];
  const gasnet_seginfo_t& theirs = segments[partner];
  static std::vector<gasnet_handle_t> handles(kHandlesMax, GASNET_INVALID_HANDLE);
  Path path = {.partner = partner,
               .source = area(mine, kOutgoing, buffer_bytes),
               .sink = area(mine, kFetched, buffer_bytes),
               .remote_sink = area(theirs, kIncoming, buffer_bytes),
               .remote_source = area(theirs, kServed, buffer_bytes),
               .reply_sink = area(mine, kFetched, buffer_bytes),
               .handles = handles.data()};
  if (in_heap) {
    auto source = heap_area(buffer_bytes);
    if (!source) return source.error();
    auto sink = heap_area(buffer_bytes);
    if (!sink) return sink.error();
    path.source = *source;
    path.sink = *sink;
  }
  std::byte* served = area(mine, kServed, buffer_bytes);
  for (uint64_t i = 0; i < buffer_bytes; ++i) {
    served[i] = pattern(gasnet_mynode(), i);
    path.source[i] = static_cast<std::byte>(i);
  }
  return path;
}

DataCheck::DataCheck(const Path& path) : path_(path) {
  static uint8_t mark = 0;
  if (path.bytes == 0) return;
  // Both ends change with every measurement: old data cannot pass for new.
  ++mark;
  path.source[0] = path.source[path.bytes - 1] = static_cast<std::byte>(mark);
  path.sink[0] = ~pattern(path.partner, 0);
  path.sink[path.bytes - 1] = ~pattern(path.partner, path.bytes - 1);
  path.reply_sink[0] = path.reply_sink[path.bytes - 1] = static_cast<std::byte>(~mark);
}

bool DataCheck::put_arrived() const {
  std::vector<std::byte> back(path_.bytes);
  gasnet_get_bulk(back.data(), path_.partner, path_.remote_sink, path_.bytes);
  return std::memcmp(back.data(), path_.source, path_.bytes) == 0;
}

bool DataCheck::get_arrived() const {
  for (uint64_t i = 0; i < path_.bytes; ++i) {
    if (path_.sink[i] != pattern(path_.partner, i)) return false;
  }
  return true;
}

bool DataCheck::reply_arrived() const {
  return std::memcmp(path_.reply_sink, path_.source, path_.bytes) == 0;
}

}  // namespace pinwire::flood
