#include "core/base/threads/cpus.h"

#include <sched.h>

#include <cstdlib>

namespace pinwire {

std::vector<uint32_t> usable_cpus() {
  std::vector<uint32_t> cpus;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

void run_on(pthread_t thread, const std::vector<uint32_t>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const uint32_t cpu : cpus)
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
  if (CPU_COUNT(&set) != 0) pthread_setaffinity_np(thread, sizeof set, &set);
}

std::string cpu_list(const std::vector<uint32_t>& ordered) {
  std::string text;
  for (size_t i = 0; i < ordered.size(); ++i) {
    const size_t first = i;
    while (i + 1 < ordered.size() && ordered[i + 1] == ordered[i] + 1) ++i;
    text += (text.empty() ? "" : ",") + std::to_string(ordered[first]);
    if (i != first) text += "-" + std::to_string(ordered[i]);
  }
  return text;
}

std::vector<uint32_t> parse_cpu_list(const std::string& list) {
  constexpr unsigned long kCpusMax = 1u << 16;  // no kernel has more
  std::vector<uint32_t> cpus;
  const char* at = list.c_str();
  for (;;) {
    char* next = nullptr;
    const unsigned long first = std::strtoul(at, &next, 10);
    unsigned long last = first;
    if (next != at && *next == '-') last = std::strtoul(at = next + 1, &next, 10);
    if (next == at || first > last || last >= kCpusMax) return cpus;
    for (unsigned long cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<uint32_t>(cpu));
    if (*next != ',') return cpus;
    at = next + 1;
  }
}

}  // namespace pinwire
