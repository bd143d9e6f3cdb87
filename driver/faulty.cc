#include "driver/faulty.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/base/random.h"
#include "driver/forwarding.h"

namespace pinwire {
namespace {

/// Done of work that failed without being handed on. A ring: work is refused while it is full.
struct FailedWork {
  static constexpr uint32_t kMax = 256;
  Done done[kMax];
  uint32_t begin = 0;
  uint32_t end = 0;
};

struct FaultyLane {
  std::atomic<uint64_t> draws{0};
  FailedWork failed;
};

class Faulty final : public ForwardingDriver {
 public:
  Faulty(std::unique_ptr<Driver> driver, const FaultPlan& plan)
      : ForwardingDriver(*driver), owned_(std::move(driver)), plan_(plan) {}

  Caps caps() const noexcept override {
    Caps caps = inner().caps();
    for (const auto deny : plan_.deny) {
      if (deny == nullptr) break;
      deny(caps);
    }
    return caps;
  }
  Status open(const OpenInfo& info) override {
    if (plan_.fail_open) return error("%s: opening failed, as the test wishes", name());
    lanes_ = std::make_unique<FaultyLane[]>(info.lanes);
    return inner().open(info);
  }
  Status connect(Rank peer, std::span<const std::byte> address) override {
    if (plan_.fail_connect) return error("%s: no way to rank %u, as the test wishes", name(), peer);
    return inner().connect(peer, address);
  }
  Result<Region> pin(void* base, uint64_t bytes, int fd, uint64_t fd_offset) override {
    if (plan_.fail_pin) return error("%s: pinning failed, as the test wishes", name());
    return inner().pin(base, bytes, fd, fd_offset);
  }
  Result<Region> pin_device(void* base, uint64_t bytes, int dmabuf) override {
    if (plan_.fail_pin) return error("%s: pinning failed, as the test wishes", name());
    return inner().pin_device(base, bytes, dmabuf);
  }

  uint32_t post(uint32_t lane, std::span<const Work> work) noexcept override {
    if (strikes(lane, plan_.refuse)) work = work.first(draw(lane) % work.size());
    if (work.empty()) return 0;
    if (plan_.fail_after == 0) return inner().post(lane, work);
    const uint64_t before = posted_.fetch_add(work.size(), std::memory_order_relaxed);
    if (before + work.size() <= plan_.fail_after) {
      const uint32_t taken = inner().post(lane, work);
      posted_.fetch_sub(work.size() - taken, std::memory_order_relaxed);
      return taken;
    }
    fail(work.front().peer);
    return swallow(lanes_[lane].failed, work);
  }
  Lent lend(uint32_t lane, Rank peer, uint64_t bytes) noexcept override {
    if (caps().lent_bytes_max == 0 || strikes(lane, plan_.refuse)) return {};
    return inner().lend(lane, peer, bytes);
  }
  uint32_t done(uint32_t lane, std::span<Done> out) noexcept override {
    if (strikes(lane, plan_.delay)) return 0;
    FailedWork& failed = lanes_[lane].failed;
    uint32_t count = 0;
    while (count < out.size() && failed.begin != failed.end) {
      out[count++] = failed.done[failed.begin++ % FailedWork::kMax];
    }
    return count + inner().done(lane, out.subspan(count));
  }
  uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept override {
    if (strikes(lane, plan_.delay)) return 0;
    return inner().recv(lane, filter, out);
  }
  bool idle(uint32_t lane) const noexcept override {
    const FailedWork& failed = lanes_[lane].failed;
    return failed.begin == failed.end && inner().idle(lane);
  }
  int event_fd(uint32_t lane) const noexcept override {
    return caps().event_fd ? inner().event_fd(lane) : -1;
  }
  Armed arm(uint32_t lane) noexcept override {
    if (!caps().event_fd || strikes(lane, plan_.delay)) return Armed::kBusy;
    return inner().arm(lane);
  }
  const Failure* failure() const noexcept override {
    return failed_.load(std::memory_order_acquire) == 2 ? &failure_ : inner().failure();
  }

 private:
  /// A random number that does not depend on what other lanes do. Any thread.
  uint64_t draw(uint32_t lane) const noexcept {
    const uint64_t number = lanes_[lane].draws.fetch_add(1, std::memory_order_relaxed);
    return Random(plan_.seed * 0x9e3779b97f4a7c15 + (uint64_t{lane} << 48) + number).next();
  }
  bool strikes(uint32_t lane, double chance) const noexcept {
    return chance > 0 && static_cast<double>(draw(lane) >> 11) * 0x1p-53 < chance;
  }

  void fail(Rank peer) noexcept {
    int healthy = 0;
    if (!failed_.compare_exchange_strong(healthy, 1)) return;
    failure_.peer = peer;
    failure_.status = WorkStatus::kUnreachable;
    std::snprintf(failure_.sentence, sizeof failure_.sentence,
                  "rank %u is unreachable, as the test wishes", peer);
    failed_.store(2, std::memory_order_release);  // pairs with the acquire in failure()
  }
  static uint32_t swallow(FailedWork& failed, std::span<const Work> work) noexcept {
    uint32_t taken = 0;
    for (const Work& item : work) {
      if ((item.flags & kWorkSilent) == 0) {
        if (failed.end - failed.begin == FailedWork::kMax) break;
        failed.done[failed.end++ % FailedWork::kMax] = {item.cookie, WorkStatus::kUnreachable};
      }
      ++taken;
    }
    return taken;
  }

  std::unique_ptr<Driver> owned_;
  const FaultPlan plan_;
  std::unique_ptr<FaultyLane[]> lanes_;
  std::atomic<uint64_t> posted_{0};
  std::atomic<int> failed_{0};  ///< 0 healthy, 1 being written, 2 `failure_` may be read
  Failure failure_{};
};

struct Deniable {
  const char* name;
  void (*deny)(Caps&);
};
constexpr Deniable kDeniable[] = {
    {"hw_rdma", [](Caps& caps) { caps.hw_rdma = false; }},
    {"ordered_put_send", [](Caps& caps) { caps.ordered_put_send = false; }},
    {"atomic64", [](Caps& caps) { caps.atomic64 = 0; }},
    {"on_demand_paging", [](Caps& caps) { caps.on_demand_paging = false; }},
    {"exposes", [](Caps& caps) { caps.exposes = false; }},
    {"zero_copy_tx", [](Caps& caps) { caps.zero_copy_tx = false; }},
    {"in_place_rx", [](Caps& caps) { caps.in_place_rx = false; }},
    {"event_fd", [](Caps& caps) { caps.event_fd = false; }},
    {"lends", [](Caps& caps) { caps.lent_bytes_max = 0; }},
    {"scatters", [](Caps& caps) { caps.scatter_bytes_max = 0; }},
    {"concurrent_post", [](Caps& caps) { caps.concurrent_post = false; }},
    {"concurrent_idle", [](Caps& caps) { caps.concurrent_idle = false; }},
    {"tells_service", [](Caps& caps) { caps.tells_service = false; }},
    {"copies",
     [](Caps& caps) { caps.inline_bytes_max = caps.eager_bytes_max = caps.copied_bytes_max = 0; }},
    {"large_puts",
     [](Caps& caps) {
       caps.put_bytes_max = std::min<uint64_t>(caps.put_bytes_max, 4096);
       caps.copied_bytes_max = std::min(caps.copied_bytes_max, caps.put_bytes_max);
       caps.eager_bytes_max = std::min(caps.eager_bytes_max, caps.copied_bytes_max);
       caps.inline_bytes_max = std::min(caps.inline_bytes_max, caps.copied_bytes_max);
     }},
    {"large_messages",
     [](Caps& caps) {
       caps.send_bytes_max = std::min<uint64_t>(caps.send_bytes_max, 512 + kHeadBytesMax);
       caps.lent_bytes_max = std::min<uint64_t>(caps.lent_bytes_max, 512);
     }},
};
constexpr auto kDeniableNames = [] {
  std::array<const char*, std::size(kDeniable)> names{};
  for (size_t i = 0; i < names.size(); ++i) names[i] = kDeniable[i].name;
  return names;
}();
static_assert(std::size(kDeniable) < std::size(FaultPlan{}.deny));

/// False: no such name, or no such value.
bool read_fault(FaultPlan& plan, std::string_view name, std::string_view value) {
  const std::string text(value);
  if (name == "refuse" || name == "delay") {
    char* end = nullptr;
    const double chance = std::strtod(text.c_str(), &end);
    (name == "refuse" ? plan.refuse : plan.delay) = chance;
    return !text.empty() && *end == 0 && chance >= 0 && chance < 1;
  }
  if (name == "seed" || name == "fail") {
    uint64_t& number = name == "seed" ? plan.seed : plan.fail_after;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    return read.ec == std::errc() && read.ptr == value.data() + value.size();
  }
  if (name != "without") return false;
  for (const Deniable& entry : kDeniable) {
    if (value != entry.name) continue;
    auto* const free = std::find(std::begin(plan.deny), std::end(plan.deny) - 1, nullptr);
    *free = entry.deny;
    return true;
  }
  return false;
}

}  // namespace

std::span<const char* const> deniable() noexcept { return kDeniableNames; }

Result<FaultPlan> read_fault_plan(std::string_view text) {
  FaultPlan plan;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const size_t equals = std::min(item.find('='), item.size());
    if (!read_fault(plan, item.substr(0, equals), item.substr(std::min(item.size(), equals + 1)))) {
      return error(
          "faults: \"%.*s\" is none of refuse=P, delay=P (0 to 1), seed=N, fail=N, "
          "without=CAPABILITY",
          static_cast<int>(item.size()), item.data());
    }
  }
  return plan;
}

std::unique_ptr<Driver> make_faulty(std::unique_ptr<Driver> inner, const FaultPlan& plan) {
  return std::make_unique<Faulty>(std::move(inner), plan);
}

}  // namespace pinwire
