#include "core/launch/agent/launcher_connection.h"

#include <algorithm>
#include <utility>

namespace pinwire::launch {

LauncherConnection::LauncherConnection(Loop& loop, Fd in, Fd out, Events events)
    : events_(std::move(events)),
      stream_(loop, std::move(in), std::move(out), "",
              {.frame = [this](const FrameHeader& header, Bytes chunk) { on_frame(header, chunk); },
               .heard = [this] { heartbeat_.heard(now_ms()); },
               .ended = [this](const std::string&) { events_.ended(); }}),
      heartbeat_({.beat =
                      [this] {
                        // The frames that are under way tell the same, once the launcher reads on.
                        if (stream_.drained()) tell(FrameKind::kAlive, kEveryRank, 0, {});
                      },
                  .lost = [this](const std::string& sentence) { events_.failed(sentence); }}) {
  stream_.put_text(kAgentGreeting);
}

void LauncherConnection::tell(FrameKind kind, Rank rank, int code, std::string_view text) {
  stream_.put(bootstrap::frame_header(kind, rank, 0, code),
              {reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

void LauncherConnection::relay(Rank rank, const FrameHeader& header, Bytes chunk) {
  auto relayed = header;
  relayed.rank = rank;
  stream_.put_chunk(relayed, chunk);
}

void LauncherConnection::say_output(Rank rank, int stream, std::string_view text) {
  window_.sent(text.size());
  while (!text.empty()) {
    const auto part = text.substr(0, kChunkBytesMax);
    tell(FrameKind::kOutput, rank, stream, part);
    text.remove_prefix(part.size());
  }
}

void LauncherConnection::on_frame(const FrameHeader& header, Bytes chunk) {
  switch (header.kind) {
    case FrameKind::kAlive:
      return;
    case FrameKind::kTaken:
      window_.taken(static_cast<size_t>(std::max(header.code, 0)));
      return events_.taken();
    case FrameKind::kInput:
      return events_.input(chunk);
    case FrameKind::kOutput:
    case FrameKind::kSignal:
      return events_.order(header);
    default:
      return assemble(header, chunk);
  }
}

void LauncherConnection::assemble(const FrameHeader& header, Bytes chunk) {
  switch (assembly_.add(header, chunk, bootstrap::kMessageBytesMax)) {
    case bootstrap::Assembly::State::kMore:
      return;
    case bootstrap::Assembly::State::kBad:
      return events_.failed("the launcher sent a malformed message");
    case bootstrap::Assembly::State::kWhole:
      break;
  }
  auto message = std::move(assembly_.bytes());
  assembly_.clear();
  events_.message(header, std::move(message));
}

}  // namespace pinwire::launch
