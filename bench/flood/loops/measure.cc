#include "bench/flood/loops/measure.h"

#include <pinwire.h>

#include <algorithm>
#include <vector>

#include "bench/flood/host/stop.h"
#include "bench/flood/loops/loops.h"
#include "bench/flood/loops/messages.h"
#include "bench/flood/numbers/sampler.h"
#include "bench/flood/numbers/summary.h"

namespace pinwire::flood {
namespace {

/// Measures the cost of one operation: runs 1, 2, 4 … of them until they take long enough to know.
/// The best counts: another process may have had the CPU for a while.
double warm_up(const Loops& loops, const Path& path, uint64_t iterations_max) {
  constexpr double kLongEnough_s = 0.001;
  constexpr uint64_t kEnough = 64;
  constexpr double kPatience_s = 0.5;  // of operations so slow that 64 take too long
  double best_s = 1e9;
  double total_s = 0;
  for (uint64_t iterations = 1;; iterations *= 2) {
    const double seconds = loops.timed(path, iterations);
    best_s = std::min(best_s, seconds / static_cast<double>(iterations));
    total_s += seconds;
    const bool enough = iterations >= kEnough || total_s >= kPatience_s;
    if ((enough && seconds >= kLongEnough_s) || iterations >= iterations_max) return best_s;
  }
}

struct Repetition {
  double seconds = 0;
  double cpu_s = 0;
  uint64_t frames = 0;
};

/// This rank and its partner; a frame that one sends the other receives, so one side has them all.
struct Meter {
  double cpu_s = 0;
  uint64_t frames = 0;
};

Meter read_meter(gasnet_node_t partner) {
  Meter meter;
  if (partner != gasnet_mynode()) meter.cpu_s = ask_snapshot(partner).cpu_s;
  const Snapshot mine = local_snapshot();
  meter.cpu_s += mine.cpu_s;
  meter.frames = mine.port.rx_frames + mine.port.tx_frames;
  return meter;
}

Repetition repeat_once(const Loops& loops, const Path& path, uint64_t iterations) {
  const Meter before = read_meter(path.partner);
  Repetition repetition;
  repetition.seconds = loops.timed(path, iterations);
  const Meter after = read_meter(path.partner);
  repetition.cpu_s = after.cpu_s - before.cpu_s;
  repetition.frames = after.frames - before.frames;
  return repetition;
}

void fill_rates(Figures& figures, const std::vector<Repetition>& repetitions, uint64_t iterations) {
  std::vector<double> us_each;
  for (const Repetition& repetition : repetitions) {
    us_each.push_back(repetition.seconds * 1e6 / static_cast<double>(iterations));
  }
  const Summary summary = summarize(us_each);
  const Repetition& typical = repetitions[summary.median_at];
  figures.iterations = iterations;
  figures.us_per_message = summary.median;
  figures.spread = summary.spread;
  figures.messages_per_s = summary.median > 0 ? 1e6 / summary.median : 0;
  figures.bytes_per_s = figures.messages_per_s * static_cast<double>(figures.bytes);
  figures.packets_per_s =
      typical.seconds > 0 ? static_cast<double>(typical.frames) / typical.seconds : 0;
  figures.cpu_s = typical.cpu_s;
}

void fill_percentiles(Figures& figures, const Loops& loops, const Path& path,
                      const LoopLimits& limits, const CycleClock& clock) {
  const uint32_t batch = stamp_batch(figures.us_per_message * 1e3, clock.stamp_ns);
  // p99.9 needs a thousand samples, if there is time for them.
  constexpr uint64_t kSamples = 1000;
  const double seconds_each = figures.us_per_message * 1e-6;
  uint64_t iterations = figures.iterations;
  if (batch > 1 && seconds_each > 0) {
    const auto affordable = static_cast<uint64_t>(limits.seconds_max / seconds_each);
    iterations = std::max(iterations, std::min(kSamples * batch, affordable));
  }
  Sampler sampler(clock, batch);
  loops.sampled(path, iterations, sampler);
  figures.batch = batch;
  figures.p50_us = sampler.percentile_us(0.50);
  figures.p99_us = sampler.percentile_us(0.99);
  figures.p999_us = sampler.percentile_us(0.999);
}

bool arrived(const Measurement& m, const DataCheck& data) {
  if (is_put(m.operation)) return data.put_arrived();
  if (m.operation == Operation::kAmLong) {
    return data.put_arrived() && (m.test == Pattern::kFlood || data.reply_arrived());
  }
  return is_am(m.operation) || data.get_arrived();
}

}  // namespace

Result<Figures> measure(const Measurement& m, const LoopLimits& limits, Path path,
                        const CycleClock& clock) {
  path.bytes = m.bytes;
  path.window = m.depth;
  const Loops loops = loops_of(m);
  Figures figures;
  figures.test = m.test;
  figures.operation = m.operation;
  figures.bytes = m.bytes;
  figures.depth = m.depth == 0 ? pinwire_network_depth() : m.depth;

  const DataCheck data(path);
  const uint64_t sent_before = issued.requests;
  const uint64_t pong_bytes_before = mail.pong_bytes.get();
  const double seconds_each = warm_up(loops, path, limits.iterations);
  const uint64_t iterations = iterations_for(limits, m.bytes, seconds_each);
  std::vector<Repetition> repetitions;
  double seconds = 0;
  while (once_more(limits, static_cast<uint32_t>(repetitions.size()), seconds)) {
    repetitions.push_back(repeat_once(loops, path, iterations));
    seconds += repetitions.back().seconds;
    if (stop_requested()) break;
  }
  fill_rates(figures, repetitions, iterations);
  fill_percentiles(figures, loops, path, limits, clock);

  // The payload of Medium AMs is gone with their handlers, but their bytes were counted.
  const bool echoed = m.test == Pattern::kPingpong && m.operation >= Operation::kAmMedium;
  const bool counted = !echoed || mail.pong_bytes.get() - pong_bytes_before ==
                                      (issued.requests - sent_before) * m.bytes;
  if (!counted || !arrived(m, data)) {
    return error(
        "%s %s of %llu bytes to rank %u: the data that arrived is not the data that was "
        "sent; this is a bug in the driver, please report it with the driver's name",
        name(m.test), name(m.operation), static_cast<unsigned long long>(m.bytes), path.partner);
  }
  return figures;
}

}  // namespace pinwire::flood
