// Did you mean ...?
#pragma once

#include <string_view>

namespace pinwire {

/// Letters to insert, remove, change or swap with their neighbour to make `a` from `b`.
int edit_distance(std::string_view a, std::string_view b);

/// The variable whose name is nearest to `name`, or nullptr if none is near.
const char* nearest_variable(std::string_view name);

/// Whether `name` is in the table or on the list of names known elsewhere.
bool known_variable(std::string_view name);

}  // namespace pinwire
