#include "extended/vis/copy.h"

namespace pinwire::vis {
namespace {

using Level = Box::Level;

/// One walk over a box: the two innermost levels are loops, the outer ones a counter of their own.
template <ptrdiff_t Level::*kTo, ptrdiff_t Level::*kFrom>
class Copy {
 public:
  Copy(const Box& box, std::byte* to, const std::byte* from) noexcept
      : box_(box),
        row_(box.levels() > 0 ? box.level(0) : kOnce),
        plane_(box.levels() > 1 ? box.level(1) : kOnce),
        to_(to),
        from_(from) {}

  void run() noexcept {
    with_size(box_.element_bytes(), [this](auto bytes) noexcept {
      do copy_plane(bytes);
      while (step());
    });
  }

 private:
  static constexpr size_t kInner = 2;
  static constexpr Level kOnce{0, 0, 1};

  template <typename Bytes>
  [[gnu::always_inline]] void copy_plane(Bytes bytes) const noexcept {
    std::byte* to = to_;
    const std::byte* from = from_;
    for (size_t i = 0; i < plane_.count; ++i, to += plane_.*kTo, from += plane_.*kFrom) {
      copy_row(bytes, to, from);
    }
  }
  template <typename Bytes>
  [[gnu::always_inline]] void copy_row(Bytes bytes, std::byte* to,
                                       const std::byte* from) const noexcept {
    const ptrdiff_t to_stride = row_.*kTo, from_stride = row_.*kFrom;
    for (size_t i = 0; i < row_.count; ++i, to += to_stride, from += from_stride) {
      std::memcpy(to, from, bytes);
    }
  }

  /// To the next plane; false: there is none.
  bool step() noexcept {
    for (size_t i = kInner; i < box_.levels(); ++i) {
      const Level& level = box_.level(i);
      if (++place_[i] < level.count) {
        to_ += level.*kTo, from_ += level.*kFrom;
        return true;
      }
      const auto back = static_cast<ptrdiff_t>(level.count - 1);
      to_ -= level.*kTo * back, from_ -= level.*kFrom * back;
      place_[i] = 0;
    }
    return false;
  }

  const Box& box_;
  const Level row_, plane_;
  std::byte* to_;
  const std::byte* from_;
  size_t place_[Box::kLevelsMax] = {};
};

}  // namespace

void copy_to_there(const Box& box, std::byte* there, const std::byte* here) noexcept {
  Copy<&Level::there, &Level::here>(box, there, here).run();
}
void copy_from_there(const Box& box, const std::byte* there, std::byte* here) noexcept {
  Copy<&Level::here, &Level::there>(box, here, there).run();
}

}  // namespace pinwire::vis
