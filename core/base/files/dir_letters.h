// The letters at the end of the names of directories that may be removed (locked_dir.h): six at
// random, and six that prove which inode number the directory had when it got its name.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace pinwire {

inline constexpr size_t kDirLetters = 12;

std::string random_letters();
/// `random` and the proof.
std::string with_proof(const std::string& random, ino_t inode);
/// Whether the letters at the end of `name`, which has that many at least, are of that inode.
bool proves(std::string_view name, ino_t inode);

}  // namespace pinwire
