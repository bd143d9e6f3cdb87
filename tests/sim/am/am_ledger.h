// The exactly-once ledger of active messages: what each carried, and how often its handler ran.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "am/message/message.h"
#include "tests/sim/oracle/shadow.h"
#include "tests/sim/oracle/verdict.h"

namespace pinwire::sim {

struct ActiveMessage {
  Rank from, to;
  bool is_request;
  Category category;
  uint32_t argc;
  uint64_t bytes;    ///< payload
  uint64_t content;  ///< of arguments and payload
  PutRange range{};  ///< of a Long: where it goes
  uint64_t put_id = 0;
  // The reply that a request asks its handler for.
  bool wants_reply = false;
  Category reply_category = Category::kShort;
  uint32_t reply_argc = 0;
  uint64_t reply_bytes = 0;
  uint64_t deadline = 0;  ///< by which its handler must run
  uint32_t runs = 0;      ///< of its handler
};

class AmLedger {
 public:
  explicit AmLedger(Verdict& verdict) : verdict_(verdict) {}

  uint32_t enter(const ActiveMessage& message);
  ActiveMessage& operator[](uint32_t number) { return messages_[number]; }
  /// The arguments of message `number`: the first one names it.
  void write_args(uint32_t number, std::span<int32_t> args) const;
  /// Its handler runs on `rank`. nullptr when the verdict has fallen. A message without arguments
  /// names none: the oldest of its kind that has not arrived stands for it, so kinds are counted.
  ActiveMessage* arrived(Rank rank, Rank source, bool is_request, Category category,
                         std::span<const int32_t> args, std::span<const std::byte> payload);
  uint64_t missing() const noexcept { return missing_; }
  uint64_t runs() const noexcept { return runs_; }
  void check_final();

 private:
  using Kind = std::tuple<Rank, Rank, bool, Category>;
  bool find_nameless(const Kind& kind, uint64_t bytes, uint32_t& number);

  Verdict& verdict_;
  std::vector<ActiveMessage> messages_;
  std::map<Kind, std::vector<uint32_t>> nameless_;
  uint64_t missing_ = 0;
  uint64_t runs_ = 0;
};

}  // namespace pinwire::sim
