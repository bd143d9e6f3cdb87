#include "bench/flood/roles/worker.h"

#include <time.h>

#include <cerrno>
#include <cstdio>

#include "bench/flood/host/stop.h"
#include "bench/flood/loops/barriers.h"
#include "bench/flood/loops/measure.h"
#include "bench/flood/loops/messages.h"
#include "bench/flood/loops/traffic.h"
#include "bench/flood/plan/pairs.h"

namespace pinwire::flood {
namespace {

constexpr int kPollsPerLook = 16;

void nap_ms(uint32_t milliseconds) {
  timespec left = {milliseconds / 1000, static_cast<long>(milliseconds % 1000) * 1'000'000};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR && !stop_requested()) {
  }
}

void measure_and_report(const Job& job, uint32_t index) {
  auto figures = measure(job.plan[index], job.options.limits, job.path, job.clock);
  if (!figures) {
    std::fprintf(stderr, "flood: rank %u: %s\n", job.rank, figures.sentence().c_str());
    std::fflush(stderr);
    gasnet_exit(1);
  }
  report_order_done(&*figures);
}

class Worker {
 public:
  explicit Worker(const Job& job) : job_(job), traffic_(job.path, job.clock) {}

  /// False when the order was to leave.
  bool carry_out(const Order& order) {
    switch (order.kind) {
      case Order::Kind::kMeasure:
        measure_and_report(job_, order.index);
        return true;
      case Order::Kind::kRun:
        traffic_.start(order.traffic, sends(job_.rank, job_.ranks, order.traffic.mode), false);
        report_order_done(nullptr);
        return true;
      case Order::Kind::kHalt:
        traffic_.halt();
        report_order_done(nullptr);
        return true;
      case Order::Kind::kNap:
        report_order_done(nullptr);
        nap_ms(order.nap_ms);
        return true;
      case Order::Kind::kBarrier:
        report_order_done(nullptr);
        join_barriers(order.count + 1);
        return true;
      case Order::Kind::kLeave:
        return false;
    }
    return false;
  }
  Traffic& traffic() { return traffic_; }

 private:
  const Job& job_;
  Traffic traffic_;
};

}  // namespace

int work(const Job& job) {
  Worker worker(job);
  bool told = false;
  for (;;) {
    // The passive receiver polls continuously (PA-008); everything else can wait for a few polls.
    for (int i = 0; i < kPollsPerLook; ++i) poll_network();
    worker.traffic().step();
    answer_questions();
    Order order;
    if (take_order(order) && !worker.carry_out(order)) return order.exit_code;
    if (stop_requested() && !told) {
      tell_interrupted();
      told = true;
    }
    // Between two runs of the prompt nobody is in a hurry.
    if (job.options.continuous() && !worker.traffic().running()) nap_ms(1);
  }
}

}  // namespace pinwire::flood
