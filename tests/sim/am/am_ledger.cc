#include "tests/sim/am/am_ledger.h"

#include <algorithm>

#include "tests/sim/client/pattern.h"

namespace pinwire::sim {

uint32_t AmLedger::enter(const ActiveMessage& message) {
  const auto number = static_cast<uint32_t>(messages_.size());
  messages_.push_back(message);
  if (message.argc == 0) {
    nameless_[{message.from, message.to, message.is_request, message.category}].push_back(number);
  }
  ++missing_;
  return number;
}

void AmLedger::write_args(uint32_t number, std::span<int32_t> args) const {
  for (size_t i = 0; i < args.size(); ++i) {
    args[i] = static_cast<int32_t>(pattern_word(messages_[number].content, i));
  }
  if (!args.empty()) args[0] = static_cast<int32_t>(number);
}

/// Those without arguments differ by their payload's size and content; a handler sees both.
bool AmLedger::find_nameless(const Kind& kind, uint64_t bytes, uint32_t& number) {
  auto& waiting = nameless_[kind];
  const auto found = std::find_if(waiting.begin(), waiting.end(),
                                  [&](uint32_t one) { return messages_[one].bytes == bytes; });
  if (found == waiting.end()) return false;
  number = *found;
  waiting.erase(found);
  return true;
}

ActiveMessage* AmLedger::arrived(Rank rank, Rank source, bool is_request, Category category,
                                 std::span<const int32_t> args,
                                 std::span<const std::byte> payload) {
  uint32_t number = args.empty() ? 0 : static_cast<uint32_t>(args[0]);
  if (args.empty() &&
      !find_nameless({source, rank, is_request, category}, payload.size(), number)) {
    verdict_.fail("rank %u ran a handler for a message of rank %u that was not sent", rank, source);
    return nullptr;
  }
  if (number >= messages_.size()) {
    verdict_.fail("rank %u ran a handler for message %u, which does not exist", rank, number);
    return nullptr;
  }
  ActiveMessage& message = messages_[number];
  if (message.from != source || message.to != rank || message.is_request != is_request ||
      message.category != category || message.argc != args.size() ||
      message.bytes != payload.size()) {
    verdict_.fail("message %u (%u -> %u) reached the wrong handler, on rank %u", number,
                  message.from, message.to, rank);
    return nullptr;
  }
  if (++message.runs > 1) {
    verdict_.fail("the handler of message %u (%u -> %u) ran %u times", number, message.from,
                  message.to, message.runs);
    return nullptr;
  }
  --missing_;
  ++runs_;
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i] == static_cast<int32_t>(pattern_word(message.content, i))) continue;
    verdict_.fail("message %u: argument %zu differs", number, i);
    return nullptr;
  }
  // Payloads of nameless messages carry one content for all of them (see AmProgram).
  if (pattern_mismatch(payload, message.content) != payload.size()) {
    verdict_.fail("message %u (%u -> %u): its payload of %zu bytes differs", number, message.from,
                  message.to, payload.size());
    return nullptr;
  }
  return &message;
}

void AmLedger::check_final() {
  for (size_t number = 0; number < messages_.size(); ++number) {
    if (messages_[number].runs == 1) continue;
    return verdict_.fail("the handler of message %zu (%u -> %u, category %u) never ran", number,
                         messages_[number].from, messages_[number].to,
                         static_cast<unsigned>(messages_[number].category));
  }
}

}  // namespace pinwire::sim
