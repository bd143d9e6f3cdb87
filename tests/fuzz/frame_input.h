// One fuzz input: frames for the parsers, or a script of frames for a whole NIC. Shared by the
// libFuzzer targets and by the test that replays random inputs where there is no libFuzzer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinwire {

/// The bytes as a frame, as a record, and as a frame whose tag is put right first.
void fuzz_parsers(const uint8_t* data, size_t bytes);

/// A NIC with memory pinned and work outstanding gets the bytes as a sequence of frames, some with
/// the right tag, and goes on living: aborts if it writes outside its region or loses a buffer.
void fuzz_nic(const uint8_t* data, size_t bytes);

}  // namespace pinwire
