// References for the tables, measured by rank 0 in the same run, between the measurements.
#pragma once

#include <optional>

#include "bench/flood/roles/job.h"

namespace pinwire::flood {

/// Median round trip of one cache line between the CPUs of rank 0 and its partner, in nanoseconds,
/// while the other ranks sleep. Nothing where it cannot be measured (one CPU).
std::optional<double> line_round_trip_ns(const Job& job);

/// Microseconds of one barrier of all ranks; median of several loops.
double barrier_us(const Job& job);

/// Bytes per second of memcpy within this process, in pieces of 1 MiB; median of several loops. 0
/// if the buffers are smaller.
double memcpy_bytes_per_s(const Job& job);

}  // namespace pinwire::flood
