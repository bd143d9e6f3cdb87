#include "core/launch/remote/parcel.h"

#include <cstring>

#include "core/config/number.h"

namespace pinwire::launch {
namespace {

enum Field : size_t {
  kFirst,
  kCount,
  kRankCount,
  kCpus,
  kKeep,
  kNoAslr,
  kInput,
  kSilence,
  kHost,
  kFolder,
  kCommandWords,
  kFixedFields
};

constexpr int64_t kSilenceMsMax = 86'400'000;  // GASNET_SSH_TIMEOUT takes no more than a day

}  // namespace

std::vector<std::byte> pack(const std::vector<std::string>& strings) {
  std::vector<std::byte> bytes;
  const auto put = [&](const void* data, size_t count) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + count);
  };
  for (const auto& one : strings) {
    const auto length = static_cast<uint32_t>(one.size());
    put(&length, sizeof length);
    put(one.data(), one.size());
  }
  return bytes;
}

Result<std::vector<std::string>> unpack(Bytes bytes) {
  std::vector<std::string> strings;
  while (!bytes.empty()) {
    uint32_t length = 0;
    if (bytes.size() < sizeof length) return error("a parcel of strings ends too early");
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes = bytes.subspan(sizeof length);
    if (length > bytes.size()) return error("a parcel of strings has a wrong length");
    strings.emplace_back(reinterpret_cast<const char*>(bytes.data()), length);
    bytes = bytes.subspan(length);
  }
  return strings;
}

std::vector<std::byte> pack_plan(const RemotePlan& plan) {
  std::vector<std::string> fields(kFixedFields);
  fields[kFirst] = std::to_string(plan.first);
  fields[kCount] = std::to_string(plan.count);
  fields[kRankCount] = std::to_string(plan.rank_count);
  fields[kCpus] = std::to_string(plan.cpus_per_rank);
  fields[kKeep] = std::to_string(plan.keep_files);
  fields[kNoAslr] = std::to_string(plan.no_aslr);
  fields[kInput] = std::to_string(plan.has_input);
  fields[kSilence] = std::to_string(plan.silence_limit_ms);
  fields[kHost] = plan.host_name;
  fields[kFolder] = plan.folder;
  fields[kCommandWords] = std::to_string(plan.command.size());
  fields.insert(fields.end(), plan.command.begin(), plan.command.end());
  fields.insert(fields.end(), plan.environment.begin(), plan.environment.end());
  return pack(fields);
}

Result<RemotePlan> unpack_plan(Bytes bytes) {
  auto fields = unpack(bytes);
  if (!fields) return fields.error();
  const auto number = [&](Field field, int64_t most) -> int64_t {
    const auto value = fields->size() < kFixedFields ? std::nullopt : parse_whole((*fields)[field]);
    return value && *value >= 0 && *value <= most ? *value : -1;
  };
  const int64_t first = number(kFirst, bootstrap::kRanksMax),
                count = number(kCount, bootstrap::kRanksMax),
                rank_count = number(kRankCount, bootstrap::kRanksMax), cpus = number(kCpus, 4096),
                keep = number(kKeep, 1), no_aslr = number(kNoAslr, 1), input = number(kInput, 1),
                silence = number(kSilence, kSilenceMsMax),
                words = number(kCommandWords, static_cast<int64_t>(fields->size()));
  if (first < 0 || count < 1 || first + count > rank_count || cpus < 0 || keep < 0 || no_aslr < 0 ||
      input < 0 || silence < 0 || words < 1 ||
      static_cast<size_t>(words) > fields->size() - kFixedFields)
    return error("the launcher's plan for this host is malformed: are both of the same version?");
  const auto command = fields->begin() + kFixedFields;
  return RemotePlan{.first = static_cast<Rank>(first),
                    .count = static_cast<Rank>(count),
                    .rank_count = static_cast<Rank>(rank_count),
                    .cpus_per_rank = static_cast<uint32_t>(cpus),
                    .keep_files = keep == 1,
                    .no_aslr = no_aslr == 1,
                    .has_input = input == 1,
                    .silence_limit_ms = silence,
                    .host_name = (*fields)[kHost],
                    .folder = (*fields)[kFolder],
                    .command = {command, command + words},
                    .environment = {command + words, fields->end()}};
}

}  // namespace pinwire::launch
