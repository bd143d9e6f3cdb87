// The table of environment variables.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/config/settings.h"

namespace pinwire {

enum class VariableKind : uint8_t {
  kText,
  kYesNo,
  kWhole,
  kReal,
  kBytes,
  kMemory,
  kChoice,
  kSignal,
  kSignals,
  kRanks,
  kLetters
};

/// A value in the form of its kind; the other members are unused.
struct VariableValue {
  std::string text;
  bool yes = false;
  int64_t whole = 0;
  double real = 0;
  uint64_t bytes = 0;
  MemoryBound memory;
  int signal = 0;        ///< 0: none
  uint64_t signals = 0;  ///< signal N is bit N
  RankSet ranks;
  uint32_t letters = 0;  ///< bit n is letter 'A' + n
  int choice = 0;        ///< index into Variable::choices; `text` is the word
};

struct Variable {
  const char* name;
  VariableKind kind;
  const char* fallback;  ///< the default, as a user would write it
  double low, high;      ///< bounds of numbers and bytes
  const char* choices;   ///< of kChoice: "auto|shm|verbs|dpdk", in the order of the enum
  bool internal;         ///< set by the launcher, not by people
  const char* doc;
  void (*store)(Settings& settings, const VariableValue& value);
  const char* elsewhere = nullptr;      ///< another variable that counts where this one is not set
  const char* elsewhere_yes = nullptr;  ///< the value that its yes means here; nullptr: its own
};

/// The value where the variable itself is not set.
const char* fallback_of(const Variable& variable, const Lookup& lookup);

std::span<const Variable> variables();

/// Names that GASNet users set and that have no effect here: no reason to warn, but help says why.
/// A trailing * stands for any ending.
struct ElsewhereVariable {
  const char* name;
  const char* reason;
};
std::span<const ElsewhereVariable> known_elsewhere();

/// The values that this variable takes, in words.
std::string allowed_values(const Variable& variable);

}  // namespace pinwire
