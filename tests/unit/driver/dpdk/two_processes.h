// Runs one function as several processes, as ranks do: forked before EAL starts, which a process
// can start only once. A child says what went wrong in a sentence; silence is success.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace pinwire {

/// Shared by the children of one run: a barrier and a few words.
struct Meeting {
  /// False when the others did not come within `timeout_s`.
  bool barrier(uint32_t parties, double timeout_s = 60);
  uint32_t arrived;
  uint32_t generation;
  uint64_t words[8];
};

/// A directory that dies with the test.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  const std::string& path() const { return path_; }
  /// Names of what is in it.
  std::vector<std::string> entries() const;

 private:
  std::string path_;
};

/// Forks `count` processes; returns what they said, "" for each that was content. Those that die or
/// outlive `timeout_s` say so.
std::vector<std::string> run_processes(
    uint32_t count, double timeout_s,
    const std::function<std::string(uint32_t rank, Meeting&)>& body);

/// PCI addresses of NICs, bound to vfio-pci and joined, that tests may use: TEST_NICS, commas
/// between.
std::vector<std::string> test_nics();

}  // namespace pinwire
