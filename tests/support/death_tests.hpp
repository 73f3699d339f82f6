// How tests end a process to see how it ends.
#pragma once

#include <gtest/gtest.h>

namespace baton::testing_support {

// Each in a process that begins anew, so that no thread of the test is missing in it. An emulator cannot begin one: there it is a
// copy of the test's.
inline void end_processes_that_begin_anew() {
#ifndef BATON_TEST_EMULATED
  GTEST_FLAG_SET(death_test_style, "threadsafe");
#endif
}

}  // namespace baton::testing_support
