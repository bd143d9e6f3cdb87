// A loop of requests, or of puts, between two ranks in one thread, over the fake network of the
// unit tests. It executes the same instructions each time it runs, whatever else the machine does,
// so callgrind counts what the verbs driver costs. The fake costs more than the driver: count by
// function, and leave the connector out, which has a thread of its own in production.
//
//   valgrind --tool=callgrind --callgrind-out-file=OUT verbs_loop request|put [count]
//   callgrind_annotate --threshold=100 OUT
//
// Prints how many of them ended.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "tests/support/verbs/sender_receiver.h"

namespace pinwire {
namespace {

/// One of each kind, without its cookie.
Work request() {
  static const uint64_t head[2] = {7, 8};
  Work work{};
  work.op = Op::kSend;
  work.cls = MessageClass::kRequest;
  work.flags = kWorkCopied | kWorkSilent;
  work.head_bytes = sizeof head;
  work.peer = pinwire_test::SenderReceiver::kReceiver;
  work.head = head;
  return work;
}
Work put(uint64_t* source, const Region& target) {
  Work work{};
  work.op = Op::kPut;
  work.cls = MessageClass::kReply;
  work.flags = kWorkCopied;
  work.peer = pinwire_test::SenderReceiver::kReceiver;
  work.local = source;
  work.bytes = sizeof *source;
  work.remote = target.base;
  work.remote_key = target.remote_key;
  return work;
}

/// Requests that were handled, or puts that are done; of both ends.
uint32_t turn(Driver& driver) {
  Recv messages[8];
  const uint32_t handled = driver.recv(0, RecvFilter::kAll, messages);
  driver.give_back(0, {messages, handled});
  Done done[8];
  return handled + driver.done(0, done);
}

uint64_t run(bool is_put, uint64_t count) {
  fake_verbs::Fabric fabric;
  pinwire_test::SenderReceiver pair(fabric);
  std::vector<uint64_t> words(2, 5);
  auto target = pair.receiver().pin(words.data(), words.size() * sizeof words[0], -1, 0);
  if (!target.ok()) fatal("%s", target.sentence().c_str());
  const Work work = is_put ? put(&words[1], *target) : request();
  uint64_t posted = 0, ended = 0;
  while (ended < count) {
    while (posted < count && pair.sender().post(0, {&work, 1}) == 1) ++posted;
    ended += turn(pair.sender());
    ended += turn(pair.receiver());
  }
  return ended;
}

}  // namespace
}  // namespace pinwire

int main(int argc, char** argv) {
  const std::string_view kind = argc > 1 ? argv[1] : "";
  const uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000;
  if ((kind != "request" && kind != "put") || count == 0) {
    std::fprintf(stderr, "usage: verbs_loop request|put [count]\n");
    return 2;
  }
  std::printf("%llu\n", static_cast<unsigned long long>(pinwire::run(kind == "put", count)));
  return 0;
}
