/* Register-memory operations (3.4). */
#include "gasnet1.h"

enum { kRegister = SIZEOF_GASNET_REGISTER_VALUE_T };

static gasnet_register_value_t low_bytes_of(gasnet_register_value_t value, size_t bytes) {
  return bytes == kRegister ? value : value & (((gasnet_register_value_t)1 << (8 * bytes)) - 1);
}

/* As an integer of that size lies in memory here. */
static void store(unsigned char *to, gasnet_register_value_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    const size_t significance = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : bytes - 1 - i;
    to[i] = (unsigned char)(value >> (8 * significance));
  }
}

static const gasnet_register_value_t kValues[] = {0, 1, (gasnet_register_value_t)-1,
                                                  (gasnet_register_value_t)0xf1e2d3c4b5a69788u,
                                                  (gasnet_register_value_t)0x8080808080808080u};

static void put_by(int way, gasnet_node_t to, void *at, gasnet_register_value_t value,
                   size_t bytes) {
  if (way == 0) gasnet_put_val(to, at, value, bytes);
  if (way == 1) gasnet_wait_syncnb(gasnet_put_nb_val(to, at, value, bytes));
  if (way == 2) {
    gasnet_put_nbi_val(to, at, value, bytes);
    gasnet_wait_syncnbi_puts();
  }
}

CASE(every_size_low_bytes_and_zero_extension, "C1-047 C1-255 C1-256 C1-257 C1-258 C1-261") {
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    for (size_t bytes = 1; bytes <= kRegister; ++bytes) {
      for (int v = 0; v < 5; ++v) {
        for (int way = 0; way < 3; ++way) {
          unsigned char *const at = part(to) + 8 + (size_t)(v + way) % 3; /* unaligned */
          unsigned char expected[24], there[24];
          memset(expected, 0x66, sizeof expected);
          store(expected + 8, kValues[v], bytes);
          gasnet_memset(to, at - 8, 0x66, sizeof expected);
          put_by(way, to, at, kValues[v], bytes);
          gasnet_get(there, to, at - 8, sizeof there);
          EXPECT(memcmp(there, expected, sizeof there) == 0);
          EXPECT(gasnet_get_val(to, at, bytes) == low_bytes_of(kValues[v], bytes));
          EXPECT(gasnet_wait_syncnb_valget(gasnet_get_nb_val(to, at, bytes)) ==
                 low_bytes_of(kValues[v], bytes));
        }
      }
    }
  }
}

/* Many at once, waited for in another order; no other synchronisation takes part. */
CASE(valgets_are_independent, "C1-259 C1-260") {
  enum { kCount = 200 };
  const gasnet_node_t to = (me + 1) % nodes;
  gasnet_valget_handle_t handles[kCount];
  EXPECT(sizeof(gasnet_valget_handle_t) <= sizeof(gasnet_register_value_t));
  for (unsigned i = 0; i < kCount; ++i) gasnet_put_nbi_val(to, part(to) + 4 * i, i * 77777u, 4);
  gasnet_wait_syncnbi_puts();
  for (unsigned i = 0; i < kCount; ++i) handles[i] = gasnet_get_nb_val(to, part(to) + 4 * i, 4);
  EXPECT_EQ(gasnet_try_syncnbi_all(), GASNET_OK);
  gasnet_wait_syncnbi_gets();
  for (unsigned i = kCount; i-- > 0;) EXPECT(gasnet_wait_syncnb_valget(handles[i]) == i * 77777u);
}
