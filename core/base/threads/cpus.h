// The CPUs that a thread may run on.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pinwire {

/// The CPUs of the calling thread, in order. None: the kernel does not tell.
std::vector<uint32_t> usable_cpus();

/// From now on that thread, as far as the kernel allows it; none: it stays where it was.
void run_on(pthread_t thread, const std::vector<uint32_t>& cpus);

/// "0-3,8", as the kernel writes it; and back: as far as it can be read.
std::string cpu_list(const std::vector<uint32_t>& ordered);
std::vector<uint32_t> parse_cpu_list(const std::string& list);

}  // namespace pinwire
