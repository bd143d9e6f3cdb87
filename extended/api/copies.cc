// pinwire.h: the C entry points of copies between any two nodes, and of groups of operations.
#include "core/api_types.h"
#include "core/trace/trace.h"
#include "extended/checks/usage.h"
#include "extended/rma/explicit.h"
#include "extended/vis/remote_copy.h"

using namespace pinwire;

namespace {

static_assert(sizeof(pinwire_copy_t) == sizeof(vis::CopyPiece) &&
              offsetof(pinwire_copy_t, bytes) == offsetof(vis::CopyPiece, bytes));

void start_copies_of(gasnet_node_t to, gasnet_node_t from, const pinwire_copy_t* pieces,
                     size_t count, pinwire_op& op) noexcept {
  vis::start_copies(to, from, reinterpret_cast<const vis::CopyPiece*>(pieces), count, op);
}

/// Both forms; start() begins the copies.
template <typename Start>
void copy_as(const char* call, gasnet_node_t to, gasnet_node_t from, Start&& start) noexcept {
  check_target(call, to);
  check_target(call, from);
  const ClientCall inside(call);
  note_event(Event::kPutNb, rank_of(to));
  start();
}

}  // namespace

extern "C" {

gasnet_handle_t pinwire_copy_nb(gasnet_node_t dest_node, gasnet_node_t source_node, size_t count,
                                const pinwire_copy_t pieces[]) {
  gasnet_handle_t handle = GASNET_INVALID_HANDLE;
  copy_as("pinwire_copy_nb", dest_node, source_node, [&] {
    handle = start_explicit(
        [&](pinwire_op& op) { start_copies_of(dest_node, source_node, pieces, count, op); });
  });
  return handle;
}
void pinwire_copy_nbi(gasnet_node_t dest_node, gasnet_node_t source_node, size_t count,
                      const pinwire_copy_t pieces[]) {
  copy_as("pinwire_copy_nbi", dest_node, source_node,
          [&] { start_copies_of(dest_node, source_node, pieces, count, implicit_locals()); });
}

gasnet_handle_t pinwire_begin_group() {
  const ClientCall inside("pinwire_begin_group");
  return begin_group();
}
gasnet_handle_t pinwire_end_group(gasnet_handle_t outer) {
  const ClientCall inside("pinwire_end_group");
  return end_group(outer);
}

}  // extern "C"
