// All that there is of the network, and the one mutex over it.
#pragma once

#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/base/random.h"
#include "tests/support/verbs/objects.h"

namespace pinwire::fake_verbs {

/// By handle: in the order of creation, so that nothing depends on addresses.
template <typename T>
using Table = std::map<uint32_t, std::unique_ptr<T>>;

struct Fault {
  Call call;
  int error;
  uint32_t skipped;
  uint32_t times;
};

struct World {
  World(uint64_t seed, const Timing& its_timing) : random(seed), timing(its_timing) {}

  Random random;
  Timing timing;
  Fabric::Strictness strictness;
  bool is_manual = false;
  bool is_traced = false;
  bool has_registered = false;
  uint64_t now = 0;
  uint32_t next_handle = 1;
  uint32_t datagrams_to_drop = 0;
  std::vector<Fault> faults;
  std::vector<PostedWr> trace;
  std::vector<std::string> violations;
  std::map<uint64_t, uint64_t> posted_receives;  ///< host addresses: start to end
  std::vector<std::unique_ptr<Hca>> hcas;
  Table<Context> contexts;
  Table<Pd> pds;
  Table<Td> tds;
  Table<Mr> mrs;
  Table<Channel> channels;
  Table<Cq> cqs;
  Table<Srq> srqs;
  Table<Qp> qps;
  Table<Ah> ahs;

  Hca& hca(const std::string& name);
  /// The errno with which this call must fail, or 0.
  int fault(Call call);
  /// The same, and EIO on a device that is broken.
  int fault(Call call, const Hca& hca);
  void violation(std::string sentence);
};

/// Holds the mutex, and shows the world of the one Fabric.
class Locked {
 public:
  Locked();
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  World& operator*() const noexcept {
    check(world() != nullptr, "a call of verbs outside the life of a Fabric");
    return *world();
  }
  World* operator->() const noexcept { return &**this; }
  static World* world() noexcept;  ///< nullptr: there is no Fabric
};

/// For calls that return a pointer.
template <typename T>
T* refuse(int error) {
  errno = error;
  return nullptr;
}

}  // namespace pinwire::fake_verbs
