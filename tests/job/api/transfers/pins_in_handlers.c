/* Rank 1 puts into rank 0's memory, which rank 0 pins for it in handlers, while rank 0's client does nothing but
 * allocate: the library's pins allocate, too, and a handler that interrupts malloc must not wait for malloc's lock
 * (PA-020, problem 3). For LARGE with a GASNET_PIN_BUDGET and for EVERYTHING, over a driver that pins, in
 * GASNET_DISPATCH=interrupt and watchdog. pins_in_handlers [PUTS] */
#include <unistd.h>

#include "../job_test.h"

#ifdef GASNET_SEGMENT_EVERYTHING
enum { kPutBytes = 256 << 10 }; /* less is not pinned for, but goes by messages */
#else
enum { kPutBytes = 64 << 10 };
#endif
enum { kSegmentBytes = 8 << 20, kPageBytes = 4096, kKept = 64, kPatienceS = 100, kPinsMin = 5 };

static volatile int over;
static void on_end(gasnet_token_t token) {
  (void)token;
  over = 1;
}

static unsigned draw(void) {
  static unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  return state >> 10;
}

static void allocate_until_told(void) {
  static void *volatile kept[kKept];
  while (!over) {
    const unsigned number = draw();
    free(kept[number % kKept]);
    kept[number % kKept] = malloc(1500 + number % 30000);
  }
}

static void put(int puts) {
  static unsigned char source[kPutBytes], seen[kPutBytes];
  for (int i = 0; i < puts; ++i) {
    unsigned char *there = (unsigned char *)segments[0].addr + draw() % ((kSegmentBytes - kPutBytes) / kPageBytes) * kPageBytes;
    fill(source, kPutBytes, (unsigned)i);
    gasnet_put_bulk(0, there, source, kPutBytes);
    if (i % 16 != 0) continue;
    gasnet_get_bulk(seen, 0, there, kPutBytes);
    EXPECT(holds(seen, kPutBytes, (unsigned)i));
  }
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_end}};
  start_job(&argc, &argv, table, 1, kSegmentBytes);
  barrier();
  const uint64_t pins_before = statistic("verbs.pin_pins");
  if (me == 0) {
    alarm(kPatienceS); /* a rank that waits for itself ends so */
    allocate_until_told();
    alarm(0);
    EXPECT(statistic("verbs.pin_pins") >= pins_before + kPinsMin);
    EXPECT(statistic("dispatch.signals_handled") != 0);
  } else if (me == 1) {
    put(argc > 1 ? atoi(argv[1]) : 20);
    gasnet_AMRequestShort0(0, 200);
  }
  end_job("pins_in_handlers");
}
