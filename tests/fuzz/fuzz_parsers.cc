#include "tests/fuzz/frame_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  pinwire::fuzz_parsers(data, bytes);
  return 0;
}
