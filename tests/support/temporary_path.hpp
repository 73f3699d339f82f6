// Names of files that no other process has, however many run the same test at once.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace baton::testing_support {

inline std::string temporary_path(const std::string& name) {
  return testing::TempDir() + "baton-" + std::to_string(getpid()) + "-" + name;
}

}  // namespace baton::testing_support
