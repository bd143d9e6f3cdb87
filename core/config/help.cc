// Texts made from the table of variables.
#include <cstdarg>
#include <cstdio>

#include "core/config/settings.h"
#include "core/config/variables.h"

namespace pinwire {
namespace {

[[gnu::format(printf, 2, 3)]] void append(std::string& text, const char* format, ...) {
  char line[1024];
  va_list values;
  va_start(values, format);
  std::vsnprintf(line, sizeof line, format, values);
  va_end(values);
  text += line;
}

const char* shown(const char* value) { return *value ? value : "(empty)"; }

}  // namespace

std::string help_text() {
  std::string text;
  for (const auto& variable : variables()) {
    if (variable.internal) continue;
    append(text, "%s\n    %s\n    %s; default: %s\n", variable.name, variable.doc,
           allowed_values(variable).c_str(), shown(variable.fallback));
  }
  text += "\nKnown from other conduits, and without effect here:\n";
  for (const auto& variable : known_elsewhere())
    append(text, "%s\n    %s\n", variable.name, variable.reason);
  return text;
}

std::string help_markdown() {
  std::string text = "| variable | default | takes | meaning |\n|---|---|---|---|\n";
  for (const auto& variable : variables()) {
    if (variable.internal) continue;
    std::string allowed;  // a bar inside a cell would end it
    for (const char letter : allowed_values(variable))
      allowed += letter == '|' ? "\\|" : std::string(1, letter);
    append(text, "| `%s` | %s | %s | %s |\n", variable.name, shown(variable.fallback),
           allowed.c_str(), variable.doc);
  }
  return text;
}

std::string describe_environment(const Lookup& lookup) {
  std::string text;
  for (const auto& variable : variables()) {
    const char* given = lookup(variable.name);
    const bool is_default = given == nullptr || *given == '\0';
    if (variable.internal && is_default) continue;
    append(text, "%s = %s%s\n", variable.name,
           shown(is_default ? fallback_of(variable, lookup) : given),
           is_default ? "  (default)" : "");
  }
  return text;
}

}  // namespace pinwire
