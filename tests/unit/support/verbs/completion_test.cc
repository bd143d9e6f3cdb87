// Completion queues and their events.
#include <poll.h>

#include <cerrno>
#include <thread>

#include "tests/unit/support/verbs/endpoint.h"

namespace pinwire::fake_verbs {
namespace {

bool is_readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return poll(&one, 1, 0) == 1;
}

EndpointOptions with_channel() {
  EndpointOptions options;
  options.has_channel = true;
  return options;
}

/// Takes the one event that must be there.
void take_event(Endpoint& end) {
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  ASSERT_EQ(ibv_get_cq_event(end.channel, &cq, &context), 0);
  EXPECT_EQ(cq, end.cq);
  EXPECT_EQ(context, &end);
}

void write_once(Pair& pair) {
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b)), 0);
  EXPECT_TRUE(pair.fabric.run());
}

TEST(FakeVerbsCompletion, OneEventForEachArming) {
  Pair pair(with_channel());
  write_once(pair);
  EXPECT_FALSE(is_readable(pair.a->channel->fd));
  // A completion that is there already wakes nobody.
  EXPECT_EQ(ibv_req_notify_cq(pair.a->cq, 0), 0);
  EXPECT_FALSE(is_readable(pair.a->channel->fd));
  write_once(pair);
  write_once(pair);
  EXPECT_TRUE(is_readable(pair.a->channel->fd));
  take_event(*pair.a);
  EXPECT_FALSE(is_readable(pair.a->channel->fd));
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  EXPECT_EQ(ibv_get_cq_event(pair.a->channel, &cq, &context), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(pair.fabric.counters("hca0").events, 1u);
  ibv_ack_cq_events(pair.a->cq, 1);
}

TEST(FakeVerbsCompletion, SolicitedAlone) {
  Pair pair(with_channel());
  EXPECT_EQ(pair.b->post_receive(0, 0, 64), 0);
  EXPECT_EQ(pair.b->post_receive(1, 64, 64), 0);
  EXPECT_EQ(ibv_req_notify_cq(pair.b->cq, 1), 0);
  for (bool solicited : {false, true}) {
    ibv_send_wr wr = pair.a->request(IBV_WR_SEND, 0, 8, *pair.b);
    if (solicited) wr.send_flags |= IBV_SEND_SOLICITED;
    EXPECT_EQ(pair.a->post(wr), 0);
    EXPECT_TRUE(pair.fabric.run());
    EXPECT_EQ(is_readable(pair.b->channel->fd), solicited);
  }
}

TEST(FakeVerbsCompletion, EventsMustBeAcknowledged) {
  Pair pair(with_channel());
  EXPECT_EQ(ibv_req_notify_cq(pair.a->cq, 0), 0);
  write_once(pair);
  take_event(*pair.a);
  EXPECT_EQ(ibv_destroy_qp(pair.a->qp), 0);
  pair.a->qp = nullptr;
  EXPECT_EQ(ibv_destroy_cq(pair.a->cq), EBUSY);
  EXPECT_EQ(pair.fabric.violations().size(), 1u);
  ibv_ack_cq_events(pair.a->cq, 1);
}

TEST(FakeVerbsCompletion, ASleeperIsWoken) {
  Pair pair(with_channel());
  EXPECT_EQ(ibv_req_notify_cq(pair.a->cq, 0), 0);
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b)), 0);
  std::thread ticker([&] { EXPECT_TRUE(pair.fabric.run()); });
  pollfd one{pair.a->channel->fd, POLLIN, 0};
  EXPECT_EQ(poll(&one, 1, -1), 1);
  ticker.join();
  take_event(*pair.a);
  ibv_ack_cq_events(pair.a->cq, 1);
}

TEST(FakeVerbsCompletion, Overrun) {
  EndpointOptions small;
  small.completion_depth = 2;
  Pair pair(small);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b)), 0);
  }
  EXPECT_TRUE(pair.fabric.run());
  EXPECT_EQ(pair.fabric.violations().size(), 1u);
  EXPECT_EQ(pair.a->events(), std::vector<ibv_event_type>{IBV_EVENT_CQ_ERR});
}

TEST(FakeVerbsCompletion, ManualMeansThatPollsDoNotTick) {
  Pair pair;
  pair.fabric.set_manual(true);
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b)), 0);
  EXPECT_TRUE(pair.a->poll().empty());
  EXPECT_TRUE(pair.fabric.run());
  EXPECT_EQ(pair.a->poll().size(), 1u);
  const Counters counters = pair.fabric.counters("hca0");
  EXPECT_EQ(counters.polls, 400u);
  EXPECT_EQ(counters.empty_polls, 399u);
  EXPECT_EQ(counters.completions, 1u);
}

}  // namespace
}  // namespace pinwire::fake_verbs
