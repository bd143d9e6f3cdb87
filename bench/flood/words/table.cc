#include "bench/flood/words/table.h"

#include <algorithm>

namespace pinwire::flood {
namespace {

/// The columns of a terminal that UTF-8 takes: "±" is two bytes and one column.
size_t columns_of(const std::string& cell) {
  return static_cast<size_t>(std::count_if(cell.begin(), cell.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u;
  }));
}

void append_cell(std::string& line, const std::string& cell, size_t width, bool first) {
  const std::string padding(width - std::min(width, columns_of(cell)), ' ');
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
    widths[i] = columns_of(head_[i]);
    for (const auto& cells : rows_) {
      if (i < cells.size()) widths[i] = std::max(widths[i], columns_of(cells[i]));
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
