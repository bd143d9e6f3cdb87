// The ten figures of the first screen. The tables have all others.
#pragma once

#include <array>

#include "bench/flood/numbers/operation.h"

namespace pinwire::flood {

enum class Quantity : uint8_t { kTime, kRate, kBandwidth };

struct KeyFigure {
  const char* subject;
  const char* property;
  Pattern test;
  Operation operation;
  uint64_t bytes;
  Quantity quantity;
};

inline constexpr uint64_t kLargeBytes = uint64_t{1} << 20;

inline constexpr std::array kKeyFigures = {
    KeyFigure{"Short AM", "round trip", Pattern::kPingpong, Operation::kAmShort, 0,
              Quantity::kTime},
    KeyFigure{"Short AMs", "rate", Pattern::kFlood, Operation::kAmShort, 0, Quantity::kRate},
    KeyFigure{"Medium AMs", "rate", Pattern::kFlood, Operation::kAmMedium, 512, Quantity::kRate},
    KeyFigure{"Long AMs", "bandwidth", Pattern::kFlood, Operation::kAmLong, kLargeBytes,
              Quantity::kBandwidth},
    KeyFigure{"blocking put", "time", Pattern::kPingpong, Operation::kPutBlocking, 8,
              Quantity::kTime},
    KeyFigure{"blocking get", "time", Pattern::kPingpong, Operation::kGetBlocking, 8,
              Quantity::kTime},
    KeyFigure{"overlapped puts", "rate", Pattern::kFlood, Operation::kPutNb, 8, Quantity::kRate},
    KeyFigure{"overlapped gets", "rate", Pattern::kFlood, Operation::kGetNb, 8, Quantity::kRate},
    KeyFigure{"overlapped puts", "bandwidth", Pattern::kFlood, Operation::kPutNb, kLargeBytes,
              Quantity::kBandwidth},
    KeyFigure{"overlapped gets", "bandwidth", Pattern::kFlood, Operation::kGetNb, kLargeBytes,
              Quantity::kBandwidth}};

}  // namespace pinwire::flood
