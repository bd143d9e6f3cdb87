// The declarations of pmix_abi.h beside those of an implementation's header.
#include "core/bootstrap/pmix/pmix_abi.h"

#include <gtest/gtest.h>
#include <pmix.h>

#include <type_traits>

namespace pinwire::bootstrap::pmix {
namespace {

template <typename Mine, typename Theirs>
constexpr bool kSameBytes = sizeof(Mine) == sizeof(Theirs) && alignof(Mine) == alignof(Theirs);

TEST(PmixAbi, ConstantsAreThoseOfTheHeader) {
  EXPECT_EQ(kSuccess, PMIX_SUCCESS);
  EXPECT_EQ(kLostConnection, PMIX_ERR_LOST_CONNECTION);
  EXPECT_EQ(kLostConnectionToServer, PMIX_ERR_LOST_CONNECTION_TO_SERVER);
  EXPECT_EQ(kOperationSucceeded, PMIX_OPERATION_SUCCEEDED);
  EXPECT_EQ(kEventActionComplete, PMIX_EVENT_ACTION_COMPLETE);
  EXPECT_EQ(kRankWildcard, PMIX_RANK_WILDCARD);
  EXPECT_EQ(kScopeGlobal, PMIX_GLOBAL);
  EXPECT_EQ(kNamespaceBytes, size_t{PMIX_MAX_NSLEN} + 1);
  EXPECT_EQ(kKeyBytes, size_t{PMIX_MAX_KEYLEN} + 1);
  EXPECT_STREQ(kJobSize, PMIX_JOB_SIZE);
  EXPECT_STREQ(kCollectData, PMIX_COLLECT_DATA);
  EXPECT_EQ(static_cast<int>(Type::kUndefined), PMIX_UNDEF);
  EXPECT_EQ(static_cast<int>(Type::kBool), PMIX_BOOL);
  EXPECT_EQ(static_cast<int>(Type::kString), PMIX_STRING);
  EXPECT_EQ(static_cast<int>(Type::kUint32), PMIX_UINT32);
  EXPECT_EQ(static_cast<int>(Type::kBytes), PMIX_BYTE_OBJECT);
}

TEST(PmixAbi, StructuresAreThoseOfTheHeader) {
  static_assert(kSameBytes<Code, pmix_status_t> && kSameBytes<Type, pmix_data_type_t>);
  static_assert(kSameBytes<Process, pmix_proc_t> && kSameBytes<Value, pmix_value_t>);
  static_assert(kSameBytes<Info, pmix_info_t> && kSameBytes<ByteObject, pmix_byte_object_t>);
  static_assert(sizeof kScopeGlobal == sizeof(pmix_scope_t));
  EXPECT_EQ(offsetof(Process, rank), offsetof(pmix_proc_t, rank));
  EXPECT_EQ(offsetof(ByteObject, size), offsetof(pmix_byte_object_t, size));
  EXPECT_EQ(offsetof(Value, data), offsetof(pmix_value_t, data));
  EXPECT_EQ(offsetof(Info, directives), offsetof(pmix_info_t, flags));
  EXPECT_EQ(offsetof(Info, value), offsetof(pmix_info_t, value));
}

/// Whether a call by the one type is a call of the other: each parameter is passed alike.
template <typename Mine, typename Theirs>
struct SameCall : std::false_type {};
template <typename R, typename... Mine, typename S, typename... Theirs>
struct SameCall<R (*)(Mine...), S (*)(Theirs...)>
    : std::bool_constant<std::is_same_v<R, S> && sizeof...(Mine) == sizeof...(Theirs)> {
  static_assert(((sizeof(Mine) == sizeof(Theirs) &&
                  std::is_pointer_v<Mine> == std::is_pointer_v<Theirs>)&&...));
};

TEST(PmixAbi, FunctionsTakeWhatThoseOfTheHeaderTake) {
  static_assert(SameCall<Init, decltype(&PMIx_Init)>());
  static_assert(SameCall<Initialized, decltype(&PMIx_Initialized)>());
  static_assert(SameCall<Finalize, decltype(&PMIx_Finalize)>());
  static_assert(SameCall<Abort, decltype(&PMIx_Abort)>());
  static_assert(SameCall<Put, decltype(&PMIx_Put)>());
  static_assert(SameCall<Commit, decltype(&PMIx_Commit)>());
  static_assert(SameCall<Fence, decltype(&PMIx_Fence)>());
  static_assert(SameCall<FenceNb, decltype(&PMIx_Fence_nb)>());
  static_assert(SameCall<Get, decltype(&PMIx_Get)>());
  static_assert(SameCall<ErrorString, decltype(&PMIx_Error_string)>());
  static_assert(SameCall<RegisterEventHandler, decltype(&PMIx_Register_event_handler)>());
  static_assert(SameCall<OnOperation, pmix_op_cbfunc_t>());
  static_assert(SameCall<OnRegistered, pmix_hdlr_reg_cbfunc_t>());
  static_assert(SameCall<OnEvent, pmix_notification_fn_t>());
  static_assert(SameCall<OnEventHandled, pmix_event_notification_cbfunc_fn_t>());
}

}  // namespace
}  // namespace pinwire::bootstrap::pmix
