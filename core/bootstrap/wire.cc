#include "core/bootstrap/wire.h"

#include <algorithm>
#include <cstring>

namespace pinwire::bootstrap {

FrameHeader frame_header(FrameKind kind, Rank rank, uint32_t round, int32_t code) {
  return {kFrameMagic, kFrameVersion, kind, rank, round, code, 0, 0, 0};
}

bool frame_ok(const FrameHeader& header) noexcept {
  return header.magic == kFrameMagic && header.version == kFrameVersion &&
         header.kind >= FrameKind::kHello && header.kind <= FrameKind::kBroken &&
         header.bytes <= kChunkBytesMax && header.total <= kMessageBytesMax &&
         header.offset <= header.total && header.bytes <= header.total - header.offset;
}

FrameHeader chunk_header(FrameHeader message, uint64_t offset, uint64_t total, uint32_t bytes_max) {
  check(offset <= total, "a chunk beyond its message", offset, total);
  message.offset = offset;
  message.total = total;
  message.bytes = static_cast<uint32_t>(std::min<uint64_t>(total - offset, bytes_max));
  return message;
}

Assembly::State Assembly::add(const FrameHeader& header, Bytes chunk, uint64_t bytes_max) {
  if (!frame_ok(header) || header.bytes != chunk.size() || header.total > bytes_max)
    return State::kBad;
  if (!begun_) {
    first_ = header;
    begun_ = true;
  }
  const bool follows = header.offset == bytes_.size() && header.total == first_.total &&
                       header.kind == first_.kind && header.round == first_.round;
  // An empty chunk is the whole of an empty message, and nothing else.
  if (!follows || (chunk.empty() && header.total != 0)) return State::kBad;
  bytes_.insert(bytes_.end(), chunk.begin(), chunk.end());
  return bytes_.size() == header.total ? State::kWhole : State::kMore;
}

std::vector<std::byte> join_contributions(std::span<const std::vector<std::byte>> contributions) {
  std::vector<std::byte> joined;
  size_t total = 0;
  for (const auto& one : contributions) total += sizeof(uint64_t) + one.size();
  joined.reserve(total);
  for (const auto& one : contributions) {
    const uint64_t length = one.size();
    const auto* bytes = reinterpret_cast<const std::byte*>(&length);
    joined.insert(joined.end(), bytes, bytes + sizeof length);
    joined.insert(joined.end(), one.begin(), one.end());
  }
  return joined;
}

Result<std::vector<std::vector<std::byte>>> split_contributions(Bytes joined, Rank rank_count) {
  std::vector<std::vector<std::byte>> contributions;
  contributions.reserve(rank_count);
  for (Rank rank = 0; rank < rank_count; ++rank) {
    uint64_t length = 0;
    if (joined.size() < sizeof length)
      return error("the launcher's answer ends at rank %u of %u", rank, rank_count);
    std::memcpy(&length, joined.data(), sizeof length);
    joined = joined.subspan(sizeof length);
    if (length > joined.size())
      return error("the launcher's answer has a wrong length at rank %u of %u", rank, rank_count);
    contributions.emplace_back(joined.begin(), joined.begin() + static_cast<ptrdiff_t>(length));
    joined = joined.subspan(length);
  }
  if (!joined.empty()) return error("the launcher's answer has %zu bytes too many", joined.size());
  return contributions;
}

}  // namespace pinwire::bootstrap
