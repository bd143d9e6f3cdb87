// Memory for what a lane owes. It comes from mmap() and goes back to it, as handlers may run in
// signals, where malloc() may not be called; a chunk of it serves many small replies.
//
// Under the lock of the lane.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "core/base/memory/reserve.h"

namespace pinwire {

class OwedMemory {
 public:
  struct alignas(kCacheLineBytes) Chunk {
    uint64_t mapped_bytes;
    uint64_t used_bytes;
    uint32_t pieces;  ///< that are in use
  };
  struct Piece {
    std::byte* memory = nullptr;  ///< nullptr: there is none
    Chunk* chunk = nullptr;
  };

  /// Takes memory in cache lines of its own. A large piece gets a chunk of its own, too.
  Piece take(uint64_t bytes) noexcept {
    dcheck(bytes != 0, "memory of no bytes for what is owed");
    bytes = align_up<uint64_t>(bytes, kCacheLineBytes);
    if (bytes > kLargeBytes) {
      Chunk* own = map(bytes + sizeof(Chunk));
      return own != nullptr ? cut(*own, bytes) : Piece{};
    }
    if (current_ == nullptr || current_->used_bytes + bytes > current_->mapped_bytes) {
      Chunk* next = map(kChunkBytes);
      if (next == nullptr) return {};
      current_ = next;  // the one before has pieces, or it had room, and goes with the last of them
    }
    return cut(*current_, bytes);
  }

  void give_back(Chunk* chunk) noexcept {
    check(chunk->pieces != 0, "memory of owed replies is given back once");
    dcheck(chunk->used_bytes > sizeof(Chunk), "a piece of a chunk that has given none", chunk);
    if (--chunk->pieces != 0) return;
    if (chunk == current_) {
      chunk->used_bytes = sizeof(Chunk);
    } else {
      unmap(chunk);
    }
  }

  /// Nothing is in use any more.
  void release() noexcept {
    if (current_ == nullptr) return;
    check(current_->pieces == 0, "owed replies are in this memory");
    unmap(current_);
    current_ = nullptr;
  }

 private:
  static constexpr uint64_t kChunkBytes = 64 * 1024;
  static constexpr uint64_t kLargeBytes = kChunkBytes / 8;

  static Chunk* map(uint64_t bytes) noexcept {
    auto* chunk = static_cast<Chunk*>(map_zeroed(bytes));
    if (chunk == nullptr) return nullptr;
    chunk->mapped_bytes = bytes;
    chunk->used_bytes = sizeof(Chunk);
    return chunk;
  }
  static void unmap(Chunk* chunk) noexcept {
    dcheck(chunk->pieces == 0, "memory of owed replies that are there yet", chunk->pieces);
    munmap(chunk, chunk->mapped_bytes);
  }
  static Piece cut(Chunk& chunk, uint64_t bytes) noexcept {
    std::byte* memory = reinterpret_cast<std::byte*>(&chunk) + chunk.used_bytes;
    chunk.used_bytes += bytes;
    ++chunk.pieces;
    dcheck(chunk.used_bytes <= chunk.mapped_bytes, "a piece ends after its chunk", chunk.used_bytes,
           chunk.mapped_bytes);
    return {memory, &chunk};
  }

  Chunk* current_ = nullptr;
};

}  // namespace pinwire
