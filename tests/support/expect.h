/* Expectations of C test programs, over the including header's fail_at(file, line, format, ...). */
#ifndef PINWIRE_EXPECT_H
#define PINWIRE_EXPECT_H

#define EXPECT(cond)                                                \
  do {                                                              \
    if (!(cond)) fail_at(__FILE__, __LINE__, "expected %s", #cond); \
  } while (0)
#define EXPECT_EQ(a, b)                                                                      \
  do {                                                                                       \
    const long long left_ = (long long)(a), right_ = (long long)(b);                         \
    if (left_ != right_)                                                                     \
      fail_at(__FILE__, __LINE__, "%s is %lld, expected %s = %lld", #a, left_, #b, right_);  \
  } while (0)

#endif
