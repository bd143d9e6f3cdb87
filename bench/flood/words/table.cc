#include "bench/flood/words/table.h"

#include <algorithm>

namespace pinwire::flood {
namespace {

void append_cell(std::string& line, const std::string& cell, size_t width, bool first) {
  const std::string padding(width - std::min(width, cell.size()), ' ');
  if (!first) line += "  ";
  line += first ? cell + padding : padding + cell;
}

void end_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += "  " + line + "\n";
}

}  // namespace

std::string Table::print() const {
  std::vector<size_t> widths(head_.size());
  for (size_t i = 0; i < head_.size(); ++i) {
    widths[i] = head_[i].size();
    for (const auto& cells : rows_) {
      if (i < cells.size()) widths[i] = std::max(widths[i], cells[i].size());
    }
  }
  size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (const size_t width : widths) total += width;

  std::string out;
  const auto line_of = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < widths.size(); ++i) {
      append_cell(line, i < cells.size() ? cells[i] : "", widths[i], i == 0);
    }
    end_line(out, std::move(line));
  };
  line_of(head_);
  end_line(out, std::string(total, '-'));
  for (const auto& cells : rows_) {
    if (cells.empty()) {
      end_line(out, std::string(total, '-'));
    } else {
      line_of(cells);
    }
  }
  return out;
}

}  // namespace pinwire::flood
