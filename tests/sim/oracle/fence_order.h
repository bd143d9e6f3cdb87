// The order that fences promise: a fenced message is handed out after every plain kSend of its
// class that the lane took for this peer before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "driver/work.h"

namespace pinwire::sim {

class FenceOrder {
 public:
  using Stream = std::tuple<Rank, Rank, MessageClass, uint32_t>;  ///< from, to, class, lane

  /// The driver took a plain kSend; returns its place in the stream.
  uint64_t posted(const Stream& stream) {
    Line& line = lines_[stream];
    line.arrived.push_back(false);
    return line.arrived.size() - 1;
  }

  /// The message of this place arrived. False: it is fenced, and one before it has not arrived.
  [[nodiscard]] bool arrived(const Stream& stream, uint64_t place, bool fenced) {
    Line& line = lines_[stream];
    const bool in_order = !fenced || line.first_missing >= place;
    line.arrived[place] = true;
    while (line.first_missing < line.arrived.size() && line.arrived[line.first_missing]) {
      ++line.first_missing;
    }
    return in_order;
  }

 private:
  struct Line {
    std::vector<bool> arrived;
    size_t first_missing = 0;
  };
  std::map<Stream, Line> lines_;
};

}  // namespace pinwire::sim
