// Two ranks over a fake RDMA network, from attach to the transfers: rank 0 is the production
// engine, attached by extended/segments/publish.cc; rank 1 attached likewise, and is then no more
// than its devices, as nobody at the target has a part in one-sided work.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <string>

#include "am/long/send_long.h"
#include "am/message/message.h"
#include "am/wait/wait.h"
#include "core/api_types.h"
#include "core/engine/engine.h"
#include "driver/checked.h"
#include "driver/verbs/driver.h"
#include "extended/rma/transfer.h"
#include "extended/segments/pin.h"
#include "extended/segments/publish.h"
#include "extended/state/job.h"
#include "pin/demand.h"
#include "tests/support/verbs/fake_verbs.h"

namespace pinwire {

using fake_verbs::Call;

/// Too large to be copied; in pages that may only be read.
inline constexpr char kConstant[100'000] = "constant";

alignas(4096) inline char everywhere[300 * 1024];

/// Brings to one rank what the ranks before it told.
class Told final : public Bootstrap {
 public:
  std::vector<std::vector<std::byte>> all;
  std::vector<std::byte>* mine = nullptr;

  const char* name() const noexcept override { return "test"; }
  Rank rank() const noexcept override { return engine.rank; }
  Rank rank_count() const noexcept override { return engine.rank_count; }
  uint64_t job_key() const noexcept override { return 1; }
  Result<std::vector<std::vector<std::byte>>> all_gather(std::span<const std::byte> told) override {
    mine->assign(told.begin(), told.end());
    if (all.empty()) return error("nobody else has told");
    all[engine.rank] = *mine;
    return all;
  }
  Status barrier() override { return success(); }
  const char* job_environment(const char*) const noexcept override { return nullptr; }
  void leaving(int, AfterIt) noexcept override {}
};

class TwoRanks : public testing::Test {
 protected:
  static constexpr uint32_t kTurnsMax = 100'000;

  /// For each rank, which rails' devices page.
  void attach(uint32_t rails, const std::vector<bool>& pages_of_0,
              const std::vector<bool>& pages_of_1) {
    rails_ = rails;
    for (Rank rank = 0; rank < 2; ++rank) {
      for (uint32_t rail = 0; rail < rails; ++rail) {
        const bool pages = (rank == 0 ? pages_of_0 : pages_of_1)[rail];
        open(rank, rail, pages);
      }
    }
    meet();
    describe(1);
    told_[1] = publish(1, {});
    forget();
    describe(0);
    fabric_.reset_counters();
    if (refuses_) fabric_.fail(Call::kRegMr, EOPNOTSUPP);
    told_[0] = publish(0, {{}, told_[1]});
    registrations_ = fabric_.counters().registrations;
    fabric_.reset_counters();
  }
  ~TwoRanks() override {
    EXPECT_TRUE(fabric_.run());
    forget();
    for (auto& rails : drivers_) {
      for (auto& driver : rails) driver.reset();
    }
    EXPECT_EQ(fabric_.live(), std::vector<std::string>());
    EXPECT_EQ(fabric_.violations(), std::vector<std::string>());
  }

  void open(Rank rank, uint32_t rail, bool pages) {
    const std::string name = "r" + std::to_string(rank) + "_" + std::to_string(rail);
    auto spec = fake_verbs::roce(name, static_cast<uint8_t>(1 + 2 * rail + rank));
    if (pages) spec.odp = fake_verbs::all_paging();
    spec.limits.atomic_cap = atomics_[rank];
    fabric_.add(spec);
    VerbsOptions options;
    options.device = name;
    options.connects_in_polls = true;
    options.pages_on_demand = true;
    auto made = make_verbs_driver(options);
    ASSERT_TRUE(made.ok()) << made.sentence();
    drivers_[rank][rail] = make_checked(std::move(*made));
    const Status opened = drivers_[rank][rail]->open(
        {.rank = rank, .rank_count = 2, .job_key = 1, .network_depth = 32});
    ASSERT_TRUE(opened.ok()) << opened.sentence();
  }
  void meet() {
    for (uint32_t rail = 0; rail < rails_; ++rail) {
      Driver& left = *drivers_[0][rail];
      Driver& right = *drivers_[1][rail];
      ASSERT_TRUE(left.connect(1, right.address()).ok());
      ASSERT_TRUE(right.connect(0, left.address()).ok());
      ASSERT_TRUE(left.connect(0, left.address()).ok());
      const uint64_t head = 0;
      Work hello{};
      hello.op = Op::kSend;
      hello.cls = MessageClass::kReply;
      hello.flags = kWorkCopied | kWorkSilent;
      hello.head = &head;
      hello.head_bytes = sizeof head;
      hello.peer = 1;
      uint32_t sent = 0;
      for (uint32_t turns = 0; receive(1, rail).empty(); ++turns) {
        ASSERT_LT(turns, kTurnsMax);
        if (sent == 0) sent = left.post(0, {&hello, 1});
        receive(0, rail);
      }
    }
    EXPECT_TRUE(fabric_.run());
  }
  /// Messages that arrive in one turn of a rank's rail.
  std::vector<std::vector<std::byte>> receive(Rank rank, uint32_t rail) {
    Recv batch[8];
    Driver& driver = *drivers_[rank][rail];
    const uint32_t count = driver.recv(0, RecvFilter::kAll, batch);
    std::vector<std::vector<std::byte>> messages;
    for (uint32_t i = 0; i < count; ++i) {
      messages.emplace_back(batch[i].data, batch[i].data + batch[i].bytes);
      driver.give_back(0, {&batch[i], 1});
    }
    return messages;
  }

  /// Makes the engine that of a rank whose drivers have connected.
  void describe(Rank rank) {
    engine.rank = rank;
    engine.rank_count = 2;
    engine.driver_count = engine.rail_count = rails_;
    engine.rail_first = 0;
    for (uint32_t rail = 0; rail < rails_; ++rail) {
      engine.drivers[rail].driver = drivers_[rank][rail].get();
      engine.drivers[rail].caps = drivers_[rank][rail]->caps();
      engine.drivers[rail].meets_all = meets_all_;
    }
    if (rails_ > 1) {
      engine.stripe_bytes_min = 16 << 10;
      engine.rail_keys = new uint32_t[2 * rails_]();
    }
    engine.routes = routes_;
    Route& route = routes_[1 - rank];
    route.driver_index = static_cast<uint8_t>(engine.rail_to(1 - rank));
    route.driver = engine.drivers[route.driver_index].driver;
    pinwire_reach = reach_;
  }
  /// Returns what it tells the others.
  std::vector<std::byte> publish(Rank rank, std::vector<std::vector<std::byte>> others) {
    Job job;
    std::vector<std::byte> mine;
    auto bootstrap = std::make_unique<Told>();
    bootstrap->all = std::move(others);
    bootstrap->mine = &mine;
    const bool is_last = !bootstrap->all.empty();
    job.bootstrap = std::move(bootstrap);
    job.kind = kind_;
    job.settings.pin_watch = false;  // pins for single transfers are not kept
    job.segment.base = reinterpret_cast<std::byte*>(everywhere);
    job.segment_bytes = kind_ == SegmentKind::kEverything ? 0 : sizeof everywhere;
    job.ranks.resize(2);
    job.may_pin = {pin_bytes_, kUnlimited};
    const Status published = publish_segments(
        job, [&job](std::span<const std::byte> bytes) { return job.bootstrap->all_gather(bytes); });
    EXPECT_EQ(published.ok(), is_last) << rank;
    return mine;
  }
  void forget() {
    for (DriverSlot& slot : engine.drivers) {
      slot.driver = nullptr;
      slot.caps = {};
      slot.own_key = slot.own_read_key = kNoRegion;
      slot.own_stays = true;
    }
    for (Demand*& demand : demands) {
      delete demand;
      demand = nullptr;
    }
    engine.driver_count = 0;
    engine.rail_count = 1;
    engine.rank_count = 1;
    engine.stripe_bytes_min = ~uint64_t{0};
    engine.own_base = 0;
    engine.own_bytes = 0;
    delete[] engine.rail_keys;
    delete[] engine.read_keys;
    delete[] engine.nic_atomic_keys;
    engine.rail_keys = engine.read_keys = engine.nic_atomic_keys = nullptr;
    engine.nic_atomics = 0;
    engine.routes = nullptr;
    routes_[0] = routes_[1] = Route{};
  }

  void put(void* to, const void* from, size_t bytes, SourceUntil until = SourceUntil::kReturn) {
    pinwire_op op{};
    start_put(1, to, from, bytes, until, op);
    wait_until([&] { return op.finished(); });
  }
  void get(void* to, const void* from, size_t bytes) {
    pinwire_op op{};
    start_get(1, from, to, bytes, op);
    wait_until([&] { return op.finished(); });
  }
  /// Waits for the next message to rank 1, which must be a Long of so much.
  void expect_long(void* to, size_t bytes) {
    std::vector<std::vector<std::byte>> found;
    for (uint32_t turns = 0; found.empty(); ++turns) {
      ASSERT_LT(turns, kTurnsMax);
      found = receive(1, routes_[1].driver_index);
    }
    ASSERT_EQ(found.size(), 1u);
    AmHeader header;
    uint64_t dest = 0;
    ASSERT_GE(found[0].size(), sizeof header + sizeof dest);
    std::memcpy(&header, found[0].data(), sizeof header);
    std::memcpy(&dest, found[0].data() + sizeof header, sizeof dest);
    EXPECT_EQ(header.category(), Category::kLong);
    EXPECT_EQ(header.payload_bytes, bytes);
    EXPECT_EQ(dest, reinterpret_cast<uint64_t>(to));
  }

  /// Memory that may only be read leaves from it and is got from it.
  void expect_constants_to_pass() {
    std::vector<char> back(sizeof kConstant);
    put(back.data(), kConstant, back.size());
    EXPECT_STREQ(back.data(), "constant");
    back[0] = 0;
    get(back.data(), kConstant, back.size());
    EXPECT_STREQ(back.data(), "constant");
    back[0] = 0;
    request_long(1, {200, 0, nullptr}, kConstant, back.size(), back.data(), false);
    expect_long(back.data(), back.size());
    EXPECT_STREQ(back.data(), "constant");
  }

  fake_verbs::Fabric fabric_;
  uint32_t rails_ = 1;
  std::unique_ptr<Driver> drivers_[2][kDriversMax];
  Route routes_[2];
  struct pinwire_reach reach_[3] = {};
  std::vector<std::byte> told_[2];
  SegmentKind kind_ = SegmentKind::kEverything;
  uint64_t pin_bytes_ = 64 << 20;
  uint64_t registrations_ = 0;  // of rank 0's attach
  ibv_atomic_cap atomics_[2] = {IBV_ATOMIC_HCA, IBV_ATOMIC_HCA};
  bool meets_all_ = true;
  bool refuses_ = false;  // rank 0's device, what it promised
};

}  // namespace pinwire
