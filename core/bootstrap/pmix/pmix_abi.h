// The part of the PMIx standard's binary interface that Pinwire calls: its types, its constants and
// the signatures of eleven functions. libpmix is opened at run time (pmix_library.h), so a build
// needs no header of an implementation. Versions 3 to 5 of the standard agree on all of this;
// tests/unit/core/bootstrap/pmix/pmix_abi_test.cc compares it with pmix.h, where that is installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pinwire::bootstrap::pmix {

using Code = int;  ///< pmix_status_t

inline constexpr Code kSuccess = 0;
inline constexpr Code kLostConnection = -61;
inline constexpr Code kLostConnectionToServer = -101;  ///< of version 3
inline constexpr Code kOperationSucceeded = -157;      ///< done already: no callback follows
inline constexpr Code kEventActionComplete = -334;

inline constexpr uint32_t kRankWildcard = UINT32_MAX - 1;
inline constexpr uint8_t kScopeGlobal = 3;
inline constexpr size_t kNamespaceBytes = 256;
inline constexpr size_t kKeyBytes = 512;
inline constexpr char kJobSize[] = "pmix.job.size";     ///< a uint32_t
inline constexpr char kCollectData[] = "pmix.collect";  ///< a bool

/// pmix_data_type_t
enum class Type : uint16_t { kUndefined = 0, kBool = 1, kString = 3, kUint32 = 14, kBytes = 27 };

struct Process {  // pmix_proc_t
  char name_space[kNamespaceBytes];
  uint32_t rank;
};

struct ByteObject {  // pmix_byte_object_t
  char* bytes;
  size_t size;
};

/// pmix_value_t. Its union has more members; the largest has 24 bytes.
struct Value {
  Type type;
  union {
    bool flag;
    char* string;
    uint32_t uint32;
    ByteObject bytes;
    void* largest[3];
  } data;
};

struct Info {  // pmix_info_t
  char key[kKeyBytes];
  uint32_t directives;
  Value value;
};

static_assert(std::is_standard_layout_v<Info> && sizeof(void*) == 8);
static_assert(sizeof(Process) == 260 && offsetof(Process, rank) == 256);
static_assert(sizeof(Value) == 32 && offsetof(Value, data) == 8);
static_assert(sizeof(Info) == 552 && offsetof(Info, value) == 520);

using OnOperation = void (*)(Code, void* context);
using OnEventHandled = void (*)(Code, Info* results, size_t result_count, OnOperation,
                                void* operation_context, void* context);
using OnEvent = void (*)(size_t registration, Code, const Process* source, Info* info,
                         size_t info_count, Info* results, size_t result_count, OnEventHandled,
                         void* context);
using OnRegistered = void (*)(Code, size_t registration, void* context);

using Init = Code (*)(Process* mine, Info* info, size_t info_count);
using Initialized = int (*)();
using Finalize = Code (*)(const Info* info, size_t info_count);
using Abort = Code (*)(int exit_code, const char* message, Process* processes, size_t count);
using Put = Code (*)(uint8_t scope, const char* key, Value*);
using Commit = Code (*)();
using Fence = Code (*)(const Process* processes, size_t count, const Info* info, size_t info_count);
using FenceNb = Code (*)(const Process* processes, size_t count, const Info* info,
                         size_t info_count, OnOperation, void* context);
using Get = Code (*)(const Process*, const char* key, const Info* info, size_t info_count, Value**);
using ErrorString = const char* (*)(Code);
using RegisterEventHandler = Code (*)(Code* codes, size_t code_count, Info* info, size_t info_count,
                                      OnEvent, OnRegistered, void* context);

}  // namespace pinwire::bootstrap::pmix
