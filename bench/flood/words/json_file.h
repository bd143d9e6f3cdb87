// The JSON output: one array, one object per measurement, nothing else.
#pragma once

#include <string>
#include <vector>

#include "bench/flood/numbers/figures.h"
#include "bench/flood/numbers/references.h"
#include "core/base/result.h"

namespace pinwire::flood {

std::string to_json(const std::string& driver, const std::vector<Figures>& rows);

/// Medians, one object for each reference that was measured.
std::string references_json(const std::string& driver, const References& references);

/// Writes `contents` to a new file beside `path`, flushes it to the device, and renames it: `path`
/// holds the old contents or all of the new ones, never a part.
Status write_whole_file(const std::string& path, const std::string& contents);

}  // namespace pinwire::flood
