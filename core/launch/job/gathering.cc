#include "core/launch/job/gathering.h"

namespace pinwire::launch {

using bootstrap::Assembly;
using bootstrap::kContributionBytesMax;
using bootstrap::kMessageBytesMax;

Result<bool> Gathering::add(Rank rank, const FrameHeader& header, Bytes chunk) {
  check(rank < parts_.size(), "a contribution of no rank", rank, parts_.size());
  if (header.round != round_ || whole_[rank])
    return error("rank %u sent a contribution to round %u in round %u", rank, header.round, round_);
  const auto state = parts_[rank].add(header, chunk, kContributionBytesMax);
  if (state == Assembly::State::kBad) return error("rank %u sent a malformed contribution", rank);
  bytes_ += chunk.size();
  if (bytes_ + parts_.size() * sizeof(uint64_t) > kMessageBytesMax) {
    return error("the ranks contribute more than %llu bytes to one round",
                 static_cast<unsigned long long>(kMessageBytesMax));
  }
  if (state == Assembly::State::kMore) return false;
  whole_[rank] = true;
  return ++whole_count_ == parts_.size();
}

std::vector<std::byte> Gathering::take() {
  check(whole_count_ == parts_.size(), "a round is not complete", whole_count_, parts_.size());
  std::vector<std::vector<std::byte>> contributions;
  for (auto& part : parts_) {
    contributions.push_back(std::move(part.bytes()));
    part.clear();
  }
  whole_.assign(whole_.size(), false);
  whole_count_ = 0;
  bytes_ = 0;
  ++round_;
  return bootstrap::join_contributions(contributions);
}

}  // namespace pinwire::launch
