// The key of a lane's frames: SipHash-1-3 (Aumasson, Bernstein) under a key made from the job key.
// It makes the secret points of the keyed hashes (body_hash.h) and the masks under which a frame
// bears them: its 64-bit tag is the hash of its header and head under one, the hash of its body
// goes under another (Wegman and Carter). No two frames have a mask in common. Without the job key
// nobody can make a tag, extend a frame or alter one on its way; a flipped bit breaks the tag. The
// tag hides nothing: what frames carry can be read, which only an encrypting network prevents.
//
// Uses of the function differ in their words: one for the points of the hashes, two for masks,
// of which the highest bit of the last says what is masked, four for the job's short name.
//
// Over a medium that is memory of one host (PortFacts::memory_medium) nothing flips bits and nobody
// but the two who were given the memory can write: there the key itself, as one constant, is proof
// enough that a frame is of this job and lane.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace pinwire {

class FrameKey {
 public:
  constexpr FrameKey() noexcept = default;
  /// Lanes have keys of their own, so that a frame steered to the wrong queue is a stranger's.
  constexpr FrameKey(uint64_t job_key, uint32_t lane) noexcept
      : FrameKey(Raw{}, mixed(job_key ^ 0x70696e7769726531u), mixed(job_key + lane)) {}

  /// The key bytes themselves, for the published test vectors.
  static constexpr FrameKey from_halves(uint64_t low, uint64_t high) noexcept {
    return FrameKey(Raw{}, low, high);
  }

  /// The same key for a medium that is memory: its tag is the same for every frame.
  constexpr FrameKey over_memory() const noexcept {
    FrameKey key = *this;
    key.constant_ = short_tag(5) | 1;
    return key;
  }

  /// SipHash-1-3 of these words. Budget: a round each and four more, about 2 ns a round.
  template <std::convertible_to<uint64_t>... Words>
  constexpr uint64_t tag(Words... words) const noexcept {
    if (constant_ != 0) return constant_;
    State s = start_;
    (absorb(s, static_cast<uint64_t>(words)), ...);
    absorb(s, uint64_t{8 * sizeof...(words)} << 56);  // the length block of SipHash
    s.v2 ^= 0xff;
    round(s);
    round(s);
    round(s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
  }

  /// Where this lane's records are hashed; 0, and all hashes with it, over a medium that is memory.
  constexpr uint64_t hash_point() const noexcept { return point(0x626f6479); }
  /// Where its headers are.
  constexpr uint64_t header_point() const noexcept { return point(0x68656164); }

  /// Public short name of the job, so that "another job's frame" is told from "a damaged frame".
  constexpr uint16_t job_tag() const noexcept { return static_cast<uint16_t>(short_tag(1)); }

 private:
  constexpr uint64_t point(uint64_t name) const noexcept {
    return constant_ != 0 ? 0 : tag(name) | 1;
  }
  constexpr uint64_t short_tag(uint64_t name) const noexcept {
    return tag(name, name + 1, name + 2, name + 3);
  }

  struct Raw {};
  struct State {
    uint64_t v0 = 0, v1 = 0, v2 = 0, v3 = 0;
  };

  constexpr FrameKey(Raw, uint64_t low, uint64_t high) noexcept
      : start_{low ^ 0x736f6d6570736575u, high ^ 0x646f72616e646f6du, low ^ 0x6c7967656e657261u,
               high ^ 0x7465646279746573u} {}

  static constexpr uint64_t mixed(uint64_t value) noexcept {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
  }
  static constexpr void round(State& s) noexcept {
    s.v0 += s.v1;
    s.v2 += s.v3;
    s.v1 = std::rotl(s.v1, 13) ^ s.v0;
    s.v3 = std::rotl(s.v3, 16) ^ s.v2;
    s.v0 = std::rotl(s.v0, 32) + s.v3;
    s.v2 += s.v1;
    s.v1 = std::rotl(s.v1, 17) ^ s.v2;
    s.v3 = std::rotl(s.v3, 21) ^ s.v0;
    s.v2 = std::rotl(s.v2, 32);
  }
  static constexpr void absorb(State& s, uint64_t word) noexcept {
    s.v3 ^= word;
    round(s);
    s.v0 ^= word;
  }

  State start_;
  uint64_t constant_ = 0;  ///< 0: the tag is computed
};

}  // namespace pinwire
