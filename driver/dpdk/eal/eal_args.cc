#include "driver/dpdk/eal/eal_args.h"

#include <algorithm>
#include <initializer_list>

namespace pinwire {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

/// True when one of `names` was given, alone ("-m", "512") or joined to its value ("--vdev=…",
/// "-m512").
bool given_any(const std::vector<std::string>& words,
               std::initializer_list<std::string_view> names) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      if (name.size() == 2) return word.starts_with(name) && !word.starts_with("--");
      return word == name || (word.starts_with(name) && word[name.size()] == '=');
    });
  });
}

/// One EAL thread, the caller's, floating over all of its CPUs: EAL must not move the client.
std::string lcore_word(const std::vector<uint32_t>& cpus) {
  std::string list;
  for (uint32_t cpu : cpus) list += (list.empty() ? "" : ",") + std::to_string(cpu);
  return "--lcores=0@(" + (list.empty() ? "0" : list) + ")";
}

void plan_memory(const EalRequest& request, EalPlan& plan) {
  const uint64_t need = (request.memory_bytes + kMiB - 1) / kMiB;
  const uint64_t free = request.huge_bytes_free / kMiB;
  const bool enough = free >= need * request.ranks_on_host && free > 0;
  const std::string sums = std::to_string(need) + " MiB for each of " +
                           std::to_string(request.ranks_on_host) + " ranks, " +
                           std::to_string(free) + " MiB of huge pages free";
  plan.file_bytes = need * kMiB;
  // Either way nothing is written to a file system: memory is memfds that die with the process.
  if (request.huge == HugePages::kAlways || (request.huge == HugePages::kAuto && enough)) {
    plan.words.push_back("--in-memory");
    // virtio_user can tell its peer of 8 memory regions only: one file per segment list, not per
    // page.
    plan.words.push_back("--single-file-segments");
    plan.memory = "huge pages (" + sums + ")";
  } else {
    plan.words.push_back("--no-huge");
    plan.words.push_back("--no-shconf");
    plan.words.push_back("-m");
    plan.words.push_back(std::to_string(need));
    plan.memory = "4 KiB pages (" + sums + ")";
  }
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < text.size();
    if (escapes) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) {
    return error(
        "the quote %c is not closed in the EAL arguments \"%.*s\" (GASNET_EAL_ARGS): close it",
        quote, static_cast<int>(text.size()), text.data());
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

bool names_device(const std::vector<std::string>& words) {
  return given_any(words, {"--vdev", "-a", "--allow", "-b", "--block"});
}

EalPlan plan_eal(const EalRequest& request) {
  EalPlan plan;
  plan.words = request.given;
  const auto& given = request.given;
  if (!given_any(given, {"--file-prefix"}))
    plan.words.push_back("--file-prefix=" + request.file_prefix);
  if (!given_any(given, {"-l", "-c", "--lcores"})) plan.words.push_back(lcore_word(request.cpus));
  if (!given_any(given, {"--telemetry", "--no-telemetry"})) plan.words.push_back("--no-telemetry");
  const bool names_pci = given_any(given, {"-a", "--allow", "-b", "--block"});
  const bool names_vdev = given_any(given, {"--vdev"});
  const bool physical = names_pci || (request.physical && !names_vdev);
  if (!physical && !given_any(given, {"--no-pci"})) plan.words.push_back("--no-pci");
  if (!physical && !given_any(given, {"--iova-mode"})) plan.words.push_back("--iova-mode=va");
  if (given_any(given,
                {"--no-huge", "--in-memory", "--huge-dir", "--socket-mem", "--legacy-mem", "-m"})) {
    plan.memory = "as the EAL arguments say";
    // The others name or mean a hugetlbfs.
    plan.in_memory_files = given_any(given, {"--no-huge", "--in-memory"});
  } else {
    plan_memory(request, plan);
    plan.in_memory_files = true;
  }
  return plan;
}

}  // namespace pinwire
