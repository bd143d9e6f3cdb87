#include "core/config/settings.h"

#include <strings.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "core/base/udp_ports.h"
#include "core/config/letters.h"
#include "core/config/signal_name.h"
#include "core/config/variables.h"

namespace pinwire {
namespace {

std::optional<int> choice_of(std::string_view choices, std::string_view word) {
  for (int index = 0;; ++index) {
    const auto bar = choices.find('|');
    const auto choice = choices.substr(0, bar);
    // In any case: upstream's barriers are shouted, its other words are not.
    if (choice.size() == word.size() && strncasecmp(choice.data(), word.data(), word.size()) == 0)
      return index;
    if (bar == std::string_view::npos) return std::nullopt;
    choices.remove_prefix(bar + 1);
  }
}

bool within(const Variable& variable, double number) {
  return number >= variable.low && number <= variable.high;
}

std::optional<VariableValue> parse_choice(const Variable& variable, const char* text) {
  VariableValue value;
  auto choice = choice_of(variable.choices, text);
  // Upstream's yes/no variables that have a third value here still take 1, y, TRUE and so on.
  if (!choice) {
    if (const auto yes = parse_yes_no(text))
      choice = choice_of(variable.choices, *yes ? "yes" : "no");
  }
  if (!choice) return std::nullopt;
  value.choice = *choice;
  value.text = text;
  return value;
}

std::optional<VariableValue> parse_value(const Variable& variable, const char* text) {
  VariableValue value;
  switch (variable.kind) {
    case VariableKind::kText:
      value.text = text;
      return value;
    case VariableKind::kChoice:
      return parse_choice(variable, text);
    case VariableKind::kYesNo: {
      const auto yes = parse_yes_no(text);
      if (!yes) return std::nullopt;
      value.yes = *yes;
      return value;
    }
    case VariableKind::kWhole: {
      const auto whole = parse_whole(text);
      if (!whole || !within(variable, static_cast<double>(*whole))) return std::nullopt;
      value.whole = *whole;
      return value;
    }
    case VariableKind::kReal: {
      const auto real = parse_real(text);
      if (!real || !within(variable, *real)) return std::nullopt;
      value.real = *real;
      return value;
    }
    case VariableKind::kBytes: {
      const auto bytes = parse_bytes(text);
      if (!bytes || !within(variable, static_cast<double>(*bytes))) return std::nullopt;
      value.bytes = *bytes;
      return value;
    }
    case VariableKind::kMemory: {
      const auto memory = parse_memory_bound(text);
      if (!memory) return std::nullopt;
      if (memory->fraction == 0 && !within(variable, static_cast<double>(memory->bytes)))
        return std::nullopt;
      value.memory = *memory;
      return value;
    }
    case VariableKind::kSignal: {
      const auto signal = *text != '\0' ? parse_signal(text) : std::optional<int>(0);
      if (!signal) return std::nullopt;
      value.signal = *signal;
      return value;
    }
    case VariableKind::kSignals: {
      const auto signals = parse_signals(text);
      if (!signals) return std::nullopt;
      value.signals = *signals;
      return value;
    }
    case VariableKind::kLetters: {
      const auto letters = parse_letters(text, variable.choices);
      if (!letters) return std::nullopt;
      value.letters = *letters;
      return value;
    }
    case VariableKind::kRanks: {
      auto ranks = RankSet::parse(text);
      if (!ranks) return std::nullopt;
      value.ranks = std::move(*ranks);
      return value;
    }
  }
  return std::nullopt;
}

/// Each queue of the DPDK port receives on a UDP port of its own.
Status check_udp_ports(const Settings& settings) {
  const uint32_t first = settings.dpdk_udp_port;
  const uint32_t last = first + settings.dpdk_queues - 1;
  if (last > UINT16_MAX) {
    return error(
        "GASNET_DPDK_UDP_PORT is %u, so that the last of %u queues (GASNET_DPDK_QUEUES) would take "
        "port %u, and the highest is %u: set %u or less",
        first, settings.dpdk_queues, last, UINT16_MAX, UINT16_MAX + 1 - settings.dpdk_queues);
  }
  for (uint32_t port = first; port <= last; ++port) {
    const char* protocol = udp_port_claimed_by(port);
    if (protocol == nullptr) continue;
    return error(
        "GASNET_DPDK_UDP_PORT is %u, and %u queues take the ports %u to %u, but NICs keep port %u "
        "for %s: set another, or leave it at %u",
        first, settings.dpdk_queues, first, last, port, protocol, kDefaultUdpPort);
  }
  return success();
}

}  // namespace

Result<Settings> read_settings(const Lookup& lookup) {
  Settings settings;
  for (const auto& variable : variables()) {
    const char* given = lookup(variable.name);
    // An empty value of anything but a text means "as if unset".
    const char* text = given && *given ? given : fallback_of(variable, lookup);
    const auto value = parse_value(variable, text);
    if (!value) {
      const std::string fallback = variable.fallback;
      return error("invalid %s=\"%s\": expected %s%s", variable.name, text,
                   allowed_values(variable).c_str(),
                   fallback.empty() ? "" : (" (default " + fallback + ")").c_str());
    }
    variable.store(settings, *value);
  }
  const struct {
    const char* name;
    uint32_t value;
  } powers[] = {{"GASNET_SHM_RING_SLOTS", settings.shm_ring_slots},
                {"GASNET_DPDK_WINDOW", settings.dpdk_window_frames}};
  for (const auto& [name, value] : powers) {
    if (value == 0 || (std::has_single_bit(value) && value >= 4)) continue;
    return error("invalid %s=%u: expected a power of two, 4 at least", name, value);
  }
  if (Status good = check_udp_ports(settings); !good) return good.error();
  return settings;
}

double exit_timeout_s(const Settings& settings, uint32_t rank_count) {
  if (settings.exit_timeout_s > 0) return settings.exit_timeout_s;
  return std::min(settings.exit_timeout_max_s,
                  settings.exit_timeout_min_s + settings.exit_timeout_factor_s * rank_count);
}

}  // namespace pinwire
