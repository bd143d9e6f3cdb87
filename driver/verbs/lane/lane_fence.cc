// Put-then-send for devices that may show a message before the data that was written ahead of it.
// All that have reliable connections must keep the order (IBA o9-20); where one does not, the user
// says so, and the message waits here until the write has completed, and all further work of the
// connection until the message has gone, because messages of a class stay in order.
#include <cstring>

#include "driver/verbs/lane/lane.h"

namespace pinwire::verbs {
namespace {

/// Taken from a link's room: whatever comes back meanwhile, there is none.
constexpr int32_t kHeldBack = 1 << 20;

}  // namespace

bool Lane::append_fenced(Link& link, const Work& work) noexcept {
  Work put = work;
  put.flags &= static_cast<uint8_t>(~kWorkSilent);  // it completes, so that the message can follow
  if (!append_put(link, put, true)) return false;
  const uint32_t buffer = small_.take();
  std::memcpy(small_.at(buffer), work.head, work.head_bytes);
  const bool is_silent = (work.flags & kWorkSilent) != 0;
  const uint32_t message = ticket_for(work, !is_silent, &small_, buffer);
  tickets_.at(message).copy_bytes = work.head_bytes;
  dcheck(chain_.last().wr_id != 0, "a put ahead of a message completes silently");
  Ticket& ahead = tickets_.at(static_cast<uint32_t>(chain_.last().wr_id - 1));
  ahead.after = After::kMessage;
  ahead.message = message;
  --room_;  // the message's
  link.room -= 1 + kHeldBack;
  return true;
}

void Lane::send_fenced(Link& link, uint32_t message, ibv_wc_status ahead) noexcept {
  dcheck(link.room < 0, "a message goes for which nothing was held back", link.room);
  ++room_;  // finish() takes it
  link.room += 1 + kHeldBack;
  Ticket& ticket = tickets_.at(message);
  if (ahead != IBV_WC_SUCCESS) {
    ticket.link = &link;
    ibv_wc flushed{};
    flushed.wr_id = message + 1;
    flushed.status = IBV_WC_WR_FLUSH_ERR;
    settle(flushed);
    return;
  }
  dcheck(chain_.count() == 0, "requests are lost that were not posted", chain_.count());
  dcheck(ticket.buffer != BufferPool::kNone, "a message that waits has a buffer", message);
  chain_.start(link);
  ibv_send_wr& request = chain_.add(shared_.send_opcode);
  request.imm_data = shared_.info.rank;
  Chain::add_piece(request, small_.at(ticket.buffer), ticket.copy_bytes, small_.local_key());
  counters_.bytes_copied += ticket.copy_bytes;
  finish(link, request, message);
  ring(link);
}

}  // namespace pinwire::verbs
