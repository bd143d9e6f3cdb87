// bench/lines [REPETITIONS [CPU CPU]]: the round trip of one cache line between two cores, the
// floor under every shared-memory message. On a virtual machine it changes while you look: run it
// beside.
#include <cstdio>
#include <cstdlib>

#include "bench/flood/host/line_floor.h"

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 10;
  const int first_cpu = argc > 3 ? std::atoi(argv[2]) : -1;
  const int second_cpu = argc > 3 ? std::atoi(argv[3]) : -1;
  if (repetitions < 1 || (argc > 3 && (first_cpu < 0 || second_cpu < 0)) || argc == 3) {
    std::fprintf(stderr, "usage: %s [REPETITIONS [CPU CPU]]\n", argv[0]);
    return 2;
  }
  constexpr uint32_t kRounds = 20'000;
  for (int i = 0; i < repetitions; ++i) {
    auto trip = pinwire::flood::measure_line(first_cpu, second_cpu, kRounds);
    if (!trip) {
      std::fprintf(stderr, "lines: %s\n", trip.sentence().c_str());
      return 1;
    }
    std::printf("cache line round trip, CPU %d <-> %d: min %.0f p50 %.0f p99 %.0f ns\n",
                trip->first_cpu, trip->second_cpu, trip->least_ns, trip->p50_ns, trip->p99_ns);
  }
  return 0;
}
