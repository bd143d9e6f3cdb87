#include "core/base/files/file_inode.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace pinwire {

TEST(FileInodeTest, DescriptorsOfOneFileShareANumberAndOtherFilesHaveAnother) {
  const int one = memfd_create("one", MFD_CLOEXEC);
  const int another = memfd_create("another", MFD_CLOEXEC);
  const int same = dup(one);
  EXPECT_NE(inode_of(one), 0U);
  EXPECT_EQ(inode_of(same), inode_of(one));
  EXPECT_NE(inode_of(another), inode_of(one));
  for (int fd : {one, another, same}) close(fd);
}

TEST(FileInodeTest, NoFileHasNoNumber) {
  const int closed = memfd_create("closed", MFD_CLOEXEC);
  close(closed);
  EXPECT_EQ(inode_of(closed), 0U);
  EXPECT_EQ(inode_of(-1), 0U);
}

}  // namespace pinwire
