#include "driver/verbs/device/gid.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace pinwire::verbs {
namespace {

GidEntry entry(uint32_t index, GidKind kind, const char* text) {
  GidEntry made;
  made.index = index;
  made.kind = kind;
  EXPECT_EQ(inet_pton(AF_INET6, text, made.bytes.data()), 1) << text;
  return made;
}

// A port as Linux fills it: each address as RoCE v1 and as v2, the link-local one first.
std::vector<GidEntry> usual_port() {
  return {entry(0, GidKind::kRoceV1, "fe80::1"),
          entry(1, GidKind::kRoceV2, "fe80::1"),
          entry(2, GidKind::kRoceV1, "2001:db8::1"),
          entry(3, GidKind::kRoceV2, "2001:db8::1"),
          entry(4, GidKind::kRoceV1, "::ffff:10.9.0.1"),
          entry(5, GidKind::kRoceV2, "::ffff:10.9.0.1"),
          entry(6, GidKind::kRoceV2, "::ffff:169.254.3.4")};
}

uint32_t chosen(const std::vector<GidEntry>& table, std::string_view wanted = "") {
  auto gid = choose_gid(table, wanted);
  EXPECT_TRUE(gid.ok()) << (gid.ok() ? "" : gid.sentence());
  return gid.ok() ? gid->index : ~0u;
}

TEST(Gid, RoutableIpv4OfRoceV2First) { EXPECT_EQ(chosen(usual_port()), 5u); }

TEST(Gid, WithoutIpv4TheRoutableIpv6) {
  auto table = usual_port();
  table.resize(4);
  EXPECT_EQ(chosen(table), 3u);
}

TEST(Gid, RoutableV1BeforeLinkLocalV2) {
  auto table = usual_port();
  table.erase(table.begin() + 3);
  table.resize(3);
  EXPECT_EQ(chosen(table), 2u);
}

TEST(Gid, LinkLocalWhereThereIsNoOther) {
  auto table = usual_port();
  table.resize(2);
  EXPECT_EQ(chosen(table), 1u);
}

TEST(Gid, TheLowestIndexAmongEquals) {
  const std::vector<GidEntry> table = {entry(7, GidKind::kRoceV2, "::ffff:10.0.0.1"),
                                       entry(9, GidKind::kRoceV2, "::ffff:10.0.0.2")};
  EXPECT_EQ(chosen(table), 7u);
}

TEST(Gid, TheUsersWordOverrides) {
  EXPECT_EQ(chosen(usual_port(), "0"), 0u);
  EXPECT_EQ(chosen(usual_port(), "2001:db8::1"), 3u);  // as v2, though v1 comes first
  EXPECT_EQ(chosen(usual_port(), "10.9.0.1"), 5u);
  EXPECT_EQ(chosen(usual_port(), "::ffff:169.254.3.4"), 6u);
}

TEST(Gid, AWrongWordGetsASentenceThatListsWhatThereIs) {
  auto missing = choose_gid(usual_port(), "10.9.0.2");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.sentence().find("RoCE v2 10.9.0.1 (GID 5)"), std::string::npos);
  auto beyond = choose_gid(usual_port(), "77");
  ASSERT_FALSE(beyond.ok());
  auto nonsense = choose_gid(usual_port(), "eth0");
  ASSERT_FALSE(nonsense.ok());
  EXPECT_NE(nonsense.sentence().find("neither"), std::string::npos);
}

TEST(Gid, APortWithoutAddressesSaysWhatToDo) {
  auto none = choose_gid({}, "");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.sentence().find("IP address"), std::string::npos);
}

}  // namespace
}  // namespace pinwire::verbs
