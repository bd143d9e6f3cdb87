/* Constants and types (1.7, 1.8). */
#include <limits.h>

#include "gasnet1.h"

#if GASNET_SPEC_VERSION_MAJOR != 1 || GASNET_SPEC_VERSION_MINOR != 8
#error "C1-038: the specification is 1.8"
#endif
#if GASNET_VERSION != GASNET_SPEC_VERSION_MAJOR
#error "C1-040"
#endif
#if SIZEOF_GASNET_REGISTER_VALUE_T != 4 && SIZEOF_GASNET_REGISTER_VALUE_T != 8
#error "C1-035: a number, for the preprocessor too"
#endif
#if GASNET_PAGESIZE % 512 != 0 || GASNET_MAXNODES < 2
#error "C1-042, C1-044: numbers, for the preprocessor too"
#endif
#if !defined(GASNET_ALIGNED_SEGMENTS) || \
    (GASNET_ALIGNED_SEGMENTS != 0 && GASNET_ALIGNED_SEGMENTS != 1)
#error "C1-043"
#endif
#if defined(GASNET_SEGMENT_FAST) + defined(GASNET_SEGMENT_LARGE) + \
        defined(GASNET_SEGMENT_EVERYTHING) !=                      \
    1
#error "C1-045"
#endif

/* That this file compiled is the test. */
CASE(known_to_the_preprocessor, "C1-035 C1-038 C1-040 C1-042 C1-043 C1-044 C1-045") {
  EXPECT_EQ(GASNET_VERSION, GASNET_SPEC_VERSION_MAJOR);
}

/* Integers, one of which is not zero, and the same release as in the package's own string. */
#define TEXT_OF(...) #__VA_ARGS__
#define VALUE_AS_TEXT(...) TEXT_OF(__VA_ARGS__)
CASE(release_of_the_package, "C1-039") {
  char release[60];
  IS(GASNET_RELEASE_VERSION_MAJOR, int);
  IS(GASNET_RELEASE_VERSION_MINOR, int);
  IS(GASNET_RELEASE_VERSION_PATCH, int);
  snprintf(release, sizeof release, "%d.%d.%d", GASNET_RELEASE_VERSION_MAJOR,
           GASNET_RELEASE_VERSION_MINOR, GASNET_RELEASE_VERSION_PATCH);
  EXPECT(strcmp(release, VALUE_AS_TEXT(GASNETI_RELEASE_VERSION)) == 0);
  EXPECT(strcmp(release, "0.0.0") != 0);
}

#define IS_UNSIGNED(type) ((type)-1 > (type)0)

CASE(integer_types, "C1-030 C1-032 C1-033 C1-035 C1-042") {
  EXPECT(IS_UNSIGNED(gasnet_node_t));
  EXPECT(IS_UNSIGNED(gasnet_handler_t));
  EXPECT_EQ((gasnet_handler_t)255, 255);
  EXPECT(!IS_UNSIGNED(gasnet_handlerarg_t));
  EXPECT_EQ(sizeof(gasnet_handlerarg_t), 4);
  EXPECT(IS_UNSIGNED(gasnet_register_value_t));
  EXPECT_EQ(sizeof(gasnet_register_value_t), SIZEOF_GASNET_REGISTER_VALUE_T);
  EXPECT(sizeof(gasnet_register_value_t) >= sizeof(void *));
  EXPECT_EQ((gasnet_node_t)GASNET_MAXNODES, GASNET_MAXNODES);
  EXPECT(nodes <= GASNET_MAXNODES);
}

CASE(compound_types, "C1-034 C1-037") {
  gasnet_handlerentry_t entry;
  gasnet_seginfo_t segment;
  gasnet_threadinfo_t info = (void *)&entry;
  gasnet_hsl_t hsl = GASNET_HSL_INITIALIZER;
  EXPECT(sizeof(gasnet_token_t) != 0 && sizeof(gasnet_valget_handle_t) != 0);
  entry.index = 255;
  entry.fnptr = NULL;
  segment.addr = &entry;
  segment.size = UINTPTR_MAX;
  EXPECT(entry.index == 255 && entry.fnptr == NULL && segment.addr == info &&
         segment.size == UINTPTR_MAX);
  gasnet_hsl_destroy(&hsl);
}

CASE(invalid_handle_is_all_zero, "C1-031 C1-189 C1-226") {
  static const gasnet_handle_t fixed[2] = {GASNET_INVALID_HANDLE, GASNET_INVALID_HANDLE};
  static gasnet_hsl_t locks[2] = {GASNET_HSL_INITIALIZER, GASNET_HSL_INITIALIZER};
  gasnet_handle_t handle;
  memset(&handle, 0, sizeof handle);
  EXPECT(handle == GASNET_INVALID_HANDLE);
  EXPECT(!handle); /* a scalar */
  EXPECT(fixed[0] == handle && fixed[1] == handle);
  gasnet_hsl_lock(&locks[1]);
  gasnet_hsl_unlock(&locks[1]);
  EXPECT(sizeof handle * CHAR_BIT >= 16);
}

CASE(error_codes_differ, "C1-022 C1-023 C1-046") {
  const int codes[] = {GASNET_OK,           GASNET_ERR_RESOURCE,         GASNET_ERR_BAD_ARG,
                       GASNET_ERR_NOT_INIT, GASNET_ERR_BARRIER_MISMATCH, GASNET_ERR_NOT_READY};
  const int modes[] = {GASNET_WAIT_SPIN, GASNET_WAIT_BLOCK, GASNET_WAIT_SPINBLOCK};
  EXPECT_EQ(GASNET_OK, 0);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < i; ++j) EXPECT(codes[i] != codes[j]);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < i; ++j) EXPECT(modes[i] != modes[j]);
  EXPECT((GASNET_BARRIERFLAG_ANONYMOUS & GASNET_BARRIERFLAG_MISMATCH) == 0);
  EXPECT(GASNET_BARRIERFLAG_ANONYMOUS != 0 && GASNET_BARRIERFLAG_MISMATCH != 0);
}

CASE(errors_have_names_and_descriptions, "C1-027 C1-029") {
  static const struct {
    int code;
    const char *name;
  } known[] = {{GASNET_OK, "GASNET_OK"},
               {GASNET_ERR_RESOURCE, "GASNET_ERR_RESOURCE"},
               {GASNET_ERR_BAD_ARG, "GASNET_ERR_BAD_ARG"},
               {GASNET_ERR_NOT_INIT, "GASNET_ERR_NOT_INIT"},
               {GASNET_ERR_BARRIER_MISMATCH, "GASNET_ERR_BARRIER_MISMATCH"},
               {GASNET_ERR_NOT_READY, "GASNET_ERR_NOT_READY"}};
  static const int unknown[] = {-1, 1, 12345, INT_MIN, INT_MAX};
  for (int i = 0; i < 6; ++i) {
    EXPECT(strcmp(gasnet_ErrorName(known[i].code), known[i].name) == 0);
    EXPECT(strlen(gasnet_ErrorDesc(known[i].code)) != 0);
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT(gasnet_ErrorName(unknown[i]) != NULL && gasnet_ErrorDesc(unknown[i]) != NULL);
  }
}

/* The bytes of the running program, with a segment kept for what overlaps. */
static int program_has(const char *head, const char *then) {
  FILE *file = fopen("/proc/self/exe", "rb");
  const size_t head_bytes = strlen(head), then_bytes = strlen(then), reach = 256;
  size_t got, kept = 0;
  static char window[1 << 16];
  int found = 0;
  if (!file) return 0;
  while (!found && (got = fread(window + kept, 1, sizeof window - kept, file)) != 0) {
    const size_t have = kept + got;
    for (size_t i = 0; !found && i + head_bytes + reach + then_bytes <= have; ++i) {
      if (memcmp(window + i, head, head_bytes) != 0) continue;
      for (size_t j = 0; j < reach && !found; ++j)
        found = memcmp(window + i + head_bytes + j, then, then_bytes) == 0;
    }
    kept = head_bytes + reach + then_bytes < have ? head_bytes + reach + then_bytes : have;
    memmove(window, window + have - kept, kept);
  }
  fclose(file);
  return found;
}

#if defined(GASNET_SEGMENT_LARGE)
#define KIND "LARGE"
#elif defined(GASNET_SEGMENT_EVERYTHING)
#define KIND "EVERYTHING"
#else
#define KIND "FAST"
#endif

/* One library is for all kinds of segments: its own copy, behind a mark that this program spells at run time
 * alone, names the default and what goes with it. A program of another kind says so behind a mark of its own. */
CASE(config_string_is_in_the_program, "C1-041") {
  char config_mark[] = "?GASNetConfig: ", kind_mark[] = "?GASNetSegment: GASNET_SEGMENT_";
  const char *kind = strstr(GASNET_CONFIG_STRING, "SEGMENT=" KIND);
  char of_library[sizeof GASNET_CONFIG_STRING + sizeof "FAST"];
  config_mark[0] = kind_mark[0] = '$';
  EXPECT(kind != NULL);
  if (!kind) return;
  snprintf(of_library, sizeof of_library, "%.*sSEGMENT=FAST", (int)(kind - GASNET_CONFIG_STRING), GASNET_CONFIG_STRING);
  EXPECT(program_has(config_mark, strcmp(KIND, "FAST") ? of_library : GASNET_CONFIG_STRING));
  EXPECT(program_has(kind_mark, KIND " $"));
}

CASE(limits_of_active_messages, "C1-130 C1-131 C1-132") {
  const size_t args = gasnet_AMMaxArgs();
  EXPECT(args >= 2 * (sizeof(int) > sizeof(void *) ? sizeof(int) : sizeof(void *)));
  EXPECT(args * sizeof(gasnet_handlerarg_t) >= 8 * sizeof(void *));
  EXPECT(gasnet_AMMaxMedium() >= 512);
  EXPECT(gasnet_AMMaxLongRequest() >= 512);
  EXPECT(gasnet_AMMaxLongReply() >= 512);
}
