#include "tests/support/verbs/world.h"

#include <functional>
#include <mutex>
#include <utility>

#include "core/base/bits.h"
#include "tests/support/verbs/engine.h"

namespace pinwire::fake_verbs {
namespace {

std::mutex mutex;
std::unique_ptr<World> the_world;
std::function<void()> before_calls;
bool is_before_call = false;

}  // namespace

Locked::Locked() {
  if (before_calls && !is_before_call) {
    is_before_call = true;
    before_calls();
    is_before_call = false;
  }
  // Two threads take it by turns: sleeping for it would take longer than what it guards.
  constexpr int kSpins = 1000;
  for (int spin = 0; spin < kSpins; ++spin) {
    if (mutex.try_lock()) return;
    cpu_relax();
  }
  mutex.lock();
}
Locked::~Locked() { mutex.unlock(); }
World* Locked::world() noexcept { return the_world.get(); }

Hca& World::hca(const std::string& name) {
  for (auto& hca : hcas) {
    if (name == hca->name) return *hca;
  }
  check(false, "the fabric has no device of this name");
  __builtin_unreachable();
}

int World::fault(Call call) {
  for (Fault& fault : faults) {
    if (fault.call != call || fault.times == 0) continue;
    if (fault.skipped > 0) {
      --fault.skipped;
      continue;
    }
    --fault.times;
    return fault.error;
  }
  return 0;
}

int World::fault(Call call, const Hca& hca) {
  const int error = fault(call);
  return error == 0 && hca.health == Health::kFatal ? EIO : error;
}

void World::violation(std::string sentence) {
  violations.push_back("tick " + std::to_string(now) + ": " + std::move(sentence));
}

Fabric::Fabric(uint64_t seed, const Timing& timing) {
  Locked lock;
  check(the_world == nullptr, "one Fabric at a time");
  the_world = std::make_unique<World>(seed, timing);
}

Fabric::~Fabric() {
  Locked lock;
  the_world.reset();
}

void Fabric::set_timing(const Timing& timing) {
  Locked lock;
  lock->timing = timing;
}

void Fabric::set_manual(bool manual) {
  Locked lock;
  lock->is_manual = manual;
}

void Fabric::step(uint32_t ticks) {
  Locked lock;
  for (uint32_t i = 0; i < ticks; ++i) tick(*lock);
}

bool Fabric::run(uint32_t ticks_max) {
  Locked lock;
  for (uint32_t i = 0; i < ticks_max; ++i) {
    if (is_quiet(*lock)) return true;
    tick(*lock);
  }
  return is_quiet(*lock);
}

uint64_t Fabric::ticks() const {
  Locked lock;
  return lock->now;
}

void Fabric::set_before_calls(std::function<void()> run) { before_calls = std::move(run); }

void Fabric::fail(Call call, int error, uint32_t nth, uint32_t times) {
  Locked lock;
  check(nth > 0 && error != 0, "a fault needs a call, counted from 1, and an errno", nth, error);
  lock->faults.push_back({call, error, nth - 1, times});
}

void Fabric::drop_datagrams(uint32_t count) {
  Locked lock;
  lock->datagrams_to_drop += count;
}

void Fabric::set_strictness(const Strictness& strictness) {
  Locked lock;
  lock->strictness = strictness;
}

void Fabric::set_trace(bool traced) {
  Locked lock;
  lock->is_traced = traced;
  lock->trace.clear();
}

std::vector<PostedWr> Fabric::trace() const {
  Locked lock;
  return lock->trace;
}

std::vector<std::string> Fabric::violations() const {
  Locked lock;
  return lock->violations;
}

}  // namespace pinwire::fake_verbs
