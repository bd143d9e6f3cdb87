// DPDK's EAL as a guest in someone else's process: it may not move the client's threads, take its
// signals, chatter, or leave files behind.
#pragma once

#include <string>

#include "core/base/result.h"
#include "driver/dpdk/eal/eal_args.h"

namespace pinwire {

struct EalOptions {
  EalPlan plan;
  std::string runtime_dir;  ///< EAL's own directory goes below it; empty: below $TMPDIR or /tmp
  /// Where DPDK's own threads run; empty: where the caller's do.
  std::vector<uint32_t> private_cpus;
  bool show_log = false;
};

/// EAL can be started once in the life of a process. While it runs, further calls only count.
Status eal_start(const EalOptions& options);

/// The call that matches the first start releases EAL's memory, and removes its directory if that
/// had to stay (for other processes: GASNET_EAL_ARGS).
void eal_stop();

/// Threads that DPDK makes while this lives take no signals of the client's, and the client's
/// thread keeps its CPU affinity.
class QuietThreads {
 public:
  QuietThreads() noexcept;
  /// The calling thread may run on these, too, while this lives.
  void add_cpus(const std::vector<uint32_t>& cpus) noexcept;
  ~QuietThreads() noexcept;
  QuietThreads(const QuietThreads&) = delete;
  QuietThreads& operator=(const QuietThreads&) = delete;

 private:
  alignas(8) unsigned char saved_mask_[128];
  alignas(8) unsigned char saved_cpus_[128];
};

}  // namespace pinwire
