#include "bench/flood/roles/director.h"

namespace pinwire::flood {

void order_all(const Job& job, const Order& order) {
  for (gasnet_node_t rank = 1; rank < job.ranks; ++rank) send_order(rank, order);
  await_orders(job.ranks - 1);
}

void dismiss_all(const Job& job, int exit_code) {
  for (gasnet_node_t rank = 1; rank < job.ranks; ++rank) {
    send_order(rank, {.kind = Order::Kind::kLeave, .exit_code = exit_code});
  }
}

}  // namespace pinwire::flood
