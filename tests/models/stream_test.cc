// extended/coll/messages/stream_flags.h: handlers of a stream's messages and the script of its
// operation, in every interleaving. A stream carries one operation after another; a message of the
// second may arrive as soon as that has begun, and is handled by another thread than the last of
// the first.
#include <gtest/gtest.h>

#include <cstdio>

#include "extended/coll/messages/stream_flags.h"
#include "tests/models/memory.h"
#include "tests/models/mutations.h"

namespace pinwire::model {
namespace {

void expect_kept(const Report& report, const char* name) {
  std::printf("%s: %llu executions, %llu states\n", name,
              static_cast<unsigned long long>(report.executions),
              static_cast<unsigned long long>(report.states));
  EXPECT_EQ(report.failure, "") << report.trace;
  EXPECT_GT(report.executions, 0u);
}

// ---- The sender ---------------------------------------------------------------------------------

constexpr uint32_t kAll = 2;   ///< pieces
constexpr uint64_t kBase = 7;  ///< of the second operation

BasicGrants<ModelMemory> grants;
model::Atomic<uint32_t> begun;  ///< operations, as the receiver of their offers knows
uint64_t source;                ///< plain memory, which the receiver reads until it has fetched it

/// Whether the first operation's receiver grants before it fetches, or was told that all is there.
struct Sending {
  bool grants_first = false;
  bool ends_early = false;  ///< wrong: a grant after the end
};

void begin(uint32_t operation) {
  write_word(&source, operation);
  grants.reset();
  begun.store(operation, std::memory_order_release);
}
void wait_for_grant(uint32_t sent) {
  retry([sent] { return grants.may_send(sent); });
}

void run_sender() {
  begin(1);
  wait_for_grant(0);
  expect(grants.is_for_fetching(), "the first receiver fetches");
  retry([] { return grants.is_over(kAll, kAll); });
  begin(2);
  for (uint32_t sent = 0; sent < kAll; ++sent) {
    wait_for_grant(sent);
    expect(!grants.is_for_fetching(), "the second receiver fetches nothing");
    expect(grants.base() == kBase, "the pieces go where the second receiver wants them");
  }
  expect(grants.is_over(kAll, kAll), "all is sent");
  expect(!grants.may_send(kAll), "no more is granted than there is");
}

void wait_until_begun(uint32_t operation) {
  retry([operation] { return begun.load(std::memory_order_acquire) == operation; });
}

void handle_fetching(const Sending& sending) {
  wait_until_begun(1);
  if (sending.grants_first) expect(grants.grant(kAll, kAll, 0, kFetches), "a grant");
  expect(read_word(&source) == 1, "the receiver reads what was offered");
  grants.end_fetching(kAll);
  if (sending.ends_early) grants.grant(kAll, 2 * kAll, 0, kFetches);
}
void handle_grants() {
  wait_until_begun(2);
  for (uint32_t i = 0; i < kAll; ++i) expect(grants.grant(1, kAll, kBase, 0), "a grant");
}

Report explore_sender(const Sending& sending, const Mutation& mutation = {}) {
  const auto prepare = [] {
    const auto* words = reinterpret_cast<const std::byte*>(&grants);
    name_cell(words, "granted");
    name_cell(words + 8, "base");
    name_cell(words + 16, "turns");
    name_cell(words + 20, "is_fetched");
    name_cell(&begun, "begun");
    name_cell(&source, "source");
  };
  const auto run = [&sending](uint32_t thread) {
    thread == 0 ? run_sender() : thread == 1 ? handle_fetching(sending) : handle_grants();
  };
  return explore({.threads = 3, .prepare = prepare, .run = run, .mutation = mutation});
}

TEST(StreamOut, CarriesOneOperationAfterAnother) {
  expect_kept(explore_sender({}), "told that all is there");
  expect_kept(explore_sender({.grants_first = true}), "grants, then fetches");
}

TEST(StreamOut, ItsMutantsAreCaught) {
  const auto is_caught = [](const char* cell) {
    return !explore_sender({}, change(cell, Action::kStore, relax_if_release)).failure.empty();
  };
  EXPECT_TRUE(is_caught("granted"));  // where the pieces go
  EXPECT_NE(explore_sender({}, change("granted", Action::kLoad, relax)).failure, "");
  EXPECT_NE(explore_sender({}, change("turns", Action::kStore, drop)).failure, "");
}

TEST(StreamOut, SourceIsFreeOnceItIsFetched) {
  const auto is_caught = [](Action action) {
    const Sending sending{.grants_first = true};
    return !explore_sender(sending, change("is_fetched", action, relax)).failure.empty();
  };
  EXPECT_TRUE(is_caught(Action::kStore));
  EXPECT_TRUE(is_caught(Action::kLoad));
}

TEST(StreamOut, AnythingAfterTheEndIsCaught) {
  EXPECT_NE(explore_sender({.ends_early = true}).failure, "");
}

// ---- The receiver -------------------------------------------------------------------------------

constexpr uint32_t kParts = 2;    ///< of a piece, which two threads bring
constexpr uint32_t kPieces = 18;  ///< two of them come to places that were used before
constexpr uint32_t kFirst = 15;   ///< those before are taken

BasicArrivals<ModelMemory> arrivals;
model::Atomic<uint32_t> word_of_grants;  ///< the message to the sender, and its pieces
uint64_t places[kWindowPieces][kParts];  ///< plain memory
enum class Receiving : uint8_t { kRight, kTooSoon };

void take_pieces(Receiving how) {
  arrivals.reset();
  arrivals.grant_places(kFirst + 1);
  for (uint32_t piece = 0; piece < kFirst; ++piece) arrivals.fill(piece, kParts, kParts);
  for (uint32_t piece = kFirst; piece < kPieces; ++piece) {
    word_of_grants.store(piece + 1, std::memory_order_release);
    retry(
        [piece, how] { return arrivals.is_filled(piece, how == Receiving::kRight ? kParts : 1); });
    for (const uint64_t& part : places[piece % kWindowPieces]) {
      expect(read_word(&part) == piece, "the piece is in place");
    }
    settle(piece);
    if (piece + 1 < kPieces) arrivals.grant_places(piece + 2);
  }
}

void bring_part(uint32_t part) {
  for (uint32_t piece = kFirst; piece < kPieces; ++piece) {
    retry([piece] { return word_of_grants.load(std::memory_order_acquire) > piece; });
    expect(arrivals.is_granted(piece), "what is granted is known to the handler");
    expect(arrivals.has_left(piece, 1, kParts), "the place was empty");
    write_word(&places[piece % kWindowPieces][part], piece);
    arrivals.fill(piece, 1, kParts);
    settle(piece + 1);
  }
}

Report explore_receiver(Receiving how, const Mutation& mutation = {}) {
  const auto prepare = [] {
    const auto* words = reinterpret_cast<const std::byte*>(&arrivals);
    name_cell(words, "granted");
    for (uint32_t i = 0; i < kWindowPieces; ++i) name_cell(words + 4 + 4 * i, "filled");
    name_cell(&word_of_grants, "word");
  };
  const auto run = [how](uint32_t thread) {
    thread == 0 ? take_pieces(how) : bring_part(thread - 1);
  };
  return explore({.threads = 1 + kParts, .prepare = prepare, .run = run, .mutation = mutation});
}

TEST(StreamIn, PlacesAreFilledTakenAndFilledAgain) {
  expect_kept(explore_receiver(Receiving::kRight), "two threads bring parts of pieces");
}

TEST(StreamIn, ItsMutantsAreCaught) {
  const auto relax_any = [](Access& access) { relax(access); };
  EXPECT_NE(
      explore_receiver(Receiving::kRight, change("filled", Action::kModify, relax_any)).failure,
      "");
  EXPECT_NE(explore_receiver(Receiving::kRight, change("filled", Action::kModify, tear)).failure,
            "");
  EXPECT_NE(explore_receiver(Receiving::kRight, change("filled", Action::kLoad, relax)).failure,
            "");
  EXPECT_NE(explore_receiver(Receiving::kRight, change("filled", Action::kStore, drop)).failure,
            "");
  EXPECT_NE(explore_receiver(Receiving::kTooSoon).failure, "");
}

}  // namespace
}  // namespace pinwire::model
