#include "extended/vis/copy.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/random.h"
#include "tests/unit/extended/vis/random_box.h"

namespace pinwire::vis {
namespace {

/// Memory for one end of a box, with what its address is, and some bytes before and behind.
struct End {
  static constexpr size_t kMargin = 40;

  explicit End(const Span& span)
      : bytes(span.bytes() + 2 * kMargin), address(bytes.data() + kMargin - span.lowest) {}
  std::vector<std::byte> bytes;
  std::byte* address;
};

void fill(std::vector<std::byte>& bytes, Random& random) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
}

TEST(CopyOfABox, BringsItsBytesAndNoOthers_VIS_026_VIS_027) {
  Random random(2);
  for (int i = 0; i < 3000; ++i) {
    const Box box = draw_box(random).folded();
    End here(box.span_here()), there(box.span_there());
    fill(here.bytes, random);
    fill(there.bytes, random);
    std::vector<std::byte> expected = there.bytes;
    for_each_element(box, [&](ptrdiff_t from, ptrdiff_t to) {
      const auto at = there.address - there.bytes.data() + to;
      std::memcpy(expected.data() + at, here.address + from, box.element_bytes());
    });
    copy_to_there(box, there.address, here.address);
    ASSERT_EQ(there.bytes, expected) << "box " << i;

    End back(box.span_here());
    copy_from_there(box, there.address, back.address);
    for_each_element(box, [&](ptrdiff_t at, ptrdiff_t) {
      ASSERT_EQ(std::memcmp(back.address + at, here.address + at, box.element_bytes()), 0);
    });
    std::memset(here.bytes.data(), 0, here.bytes.size());
    copy_from_there(box, there.address, here.address);
    EXPECT_EQ(here.bytes, back.bytes) << "box " << i;
  }
}

TEST(CopyOfAPiece, BringsAsManyBytesAsItSays_VIS_007) {
  std::byte from[300];
  for (size_t i = 0; i < sizeof from; ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  for (size_t bytes = 1; bytes < sizeof from; ++bytes) {
    std::byte to[301] = {};
    copy_piece(to, from, bytes);
    ASSERT_EQ(std::memcmp(to, from, bytes), 0) << bytes;
    ASSERT_EQ(to[bytes], std::byte{0}) << bytes;
  }
}

}  // namespace
}  // namespace pinwire::vis
