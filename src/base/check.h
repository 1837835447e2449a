// check.h — aborts with a line of why when something that cannot happen did.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition, why)                                                                       \
  do {                                                                                              \
    if (!(condition)) [[unlikely]] {                                                                \
      std::fprintf(stderr, "%s:%d: CHECK(%s) failed: %s\n", __FILE__, __LINE__, #condition, (why)); \
      std::abort();                                                                                 \
    }                                                                                               \
  } while (false)
