// A text table: the first column to the left, the others to the right, as wide as they must be.
#pragma once

#include <string>
#include <vector>

namespace pinwire::flood {

class Table {
 public:
  explicit Table(std::vector<std::string> head) : head_(std::move(head)) {}
  /// Missing cells stay empty.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// A thin line between groups of rows.
  void rule() { rows_.emplace_back(); }
  std::string print() const;

 private:
  std::vector<std::string> head_;
  std::vector<std::vector<std::string>> rows_;  ///< an empty one is a rule
};

}  // namespace pinwire::flood
