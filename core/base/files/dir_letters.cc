#include "core/base/files/dir_letters.h"

#include <sys/random.h>

#include <cstdint>

#include "core/base/check.h"
#include "core/base/hash.h"

namespace pinwire {
namespace {

constexpr size_t kRandomLetters = kDirLetters / 2;

/// Six letters for 30 bits.
std::string letters_for(uint64_t number) {
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  std::string letters;
  while (letters.size() < kRandomLetters) {
    letters += kAlphabet[number % kAlphabet.size()];
    number /= kAlphabet.size();
  }
  return letters;
}

}  // namespace

std::string random_letters() {
  uint64_t number = 0;
  const auto got = ::getrandom(&number, sizeof number, 0);
  check(got == sizeof number, "getrandom gave no name for a directory", got);
  return letters_for(number);
}

std::string with_proof(const std::string& random, ino_t inode) {
  const uint64_t hash =
      hash_more(hash_more(kHashStart, random.data(), random.size()), &inode, sizeof inode);
  return random + letters_for(hash_fold(hash));
}

bool proves(std::string_view name, ino_t inode) {
  const std::string letters(name.substr(name.size() - kDirLetters));
  return letters == with_proof(letters.substr(0, kRandomLetters), inode);
}

}  // namespace pinwire
