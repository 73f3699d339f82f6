// Goal: of a damaged file's library nothing is read that does not lie in its image. Method: a library in one block of memory,
// which an image holds, and each of its pointers led astray.
#include "hal/drivers/local/library_tables.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::local {
namespace {

int run(const baton_executable_environment*, const baton_dispatch_state*, const baton_workgroup_state*) { return 0; }

struct Block {
  char name[8] = "scale";
  char access[8] = "reads";
  baton_kernel kernels[2] = {run, run};
  const char* names[2] = {name, name};
  baton_kernel_attributes attributes[2] = {};
  const char* imports[1] = {name};
  baton_access_check checks[1] = {{access, name}};
  baton_checked_library library = {};
  char last[8] = {'t', 'h', 'e', ' ', 'e', 'n', 'd', '!'};  // Of the block, and without a zero.

  Block() {
    library.library = {.struct_size = sizeof(baton_checked_library),
                       .version = BATON_EXECUTABLE_LIBRARY_VERSION_CHECKED,
                       .name = name,
                       .sanitizer = BATON_SANITIZER_NONE,
                       .constant_count = 0,
                       .import_count = 1,
                       .kernel_count = 2,
                       .imports = imports,
                       .kernels = kernels,
                       .kernel_names = names,
                       .kernel_attributes = attributes};
    library.checks = checks;
    library.check_count = 1;
  }
};

class BlockImage final : public CodeImage {
 public:
  explicit BlockImage(const Block& block) : begin_(reinterpret_cast<const char*>(&block)) {}
  bool holds(const void* address, uint64_t size) const override {
    const uint64_t offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(begin_);
    return offset < sizeof(Block) && size <= sizeof(Block) - offset;
  }
  bool holds_text(const char* text) const override {
    return holds(text, 1) && std::memchr(text, 0, static_cast<size_t>(begin_ + sizeof(Block) - text));
  }
  bool holds_code(const void* address) const override { return address == reinterpret_cast<const void*>(run); }

 private:
  const char* begin_;
};

// What is said of a block that was changed.
template <typename Change>
std::string said(Change change) {
  Block block;
  change(block);
  return std::string(check_tables(&block.library.library, BlockImage(block)).message());
}

TEST(LibraryTables, AWholeLibraryIsTaken) {
  EXPECT_EQ(said([](Block&) {}), "");
  EXPECT_EQ(said([](Block& block) {
              block.library.library.version = BATON_EXECUTABLE_LIBRARY_VERSION;
              block.library.checks = nullptr;
              block.library.library.kernel_attributes = nullptr;
            }),
            "");
}

TEST(LibraryTables, NothingIsReadOutsideOfTheImage) {
  static const char elsewhere[] = "elsewhere";
  static const baton_kernel others[2] = {run, run};
  const std::string end = " outside of its own code and data.";
  EXPECT_EQ(said([](Block& block) { block.library.library.kernels = others; }),
            "The library has its tables of 2 kernels" + end);
  EXPECT_EQ(said([](Block& block) { block.library.library.kernel_count = UINT32_MAX; }),
            "The library has its tables of 4294967295 kernels" + end);
  EXPECT_EQ(said([](Block& block) {
              block.library.library.kernel_names = reinterpret_cast<const char* const*>(block.name + 1);
            }),
            "The library has its tables of 2 kernels" + end);
  EXPECT_EQ(said([](Block& block) { block.names[1] = elsewhere; }), "The library has its name of kernel 1" + end);
  EXPECT_EQ(said([](Block& block) { block.names[0] = block.last; }), "The library has its name of kernel 0" + end);
  EXPECT_EQ(said([](Block& block) { block.kernels[1] = reinterpret_cast<baton_kernel>(0xd); }),
            "The library has its kernel 1" + end);
  EXPECT_EQ(said([](Block& block) { block.imports[0] = nullptr; }), "The library has its name of import 0" + end);
  EXPECT_EQ(said([](Block& block) { block.library.library.imports = nullptr; }),
            "The library has its table of imports" + end);
  EXPECT_EQ(said([](Block& block) { block.checks[0].line = elsewhere; }), "The library has its words of check 0" + end);
  EXPECT_EQ(said([](Block& block) { block.library.check_count = UINT64_MAX; }),
            "The library has its table of checks" + end);
  const Block block, other;
  EXPECT_EQ(check_tables(&other.library.library, BlockImage(block)).message(), "The library has its description" + end);
}

}  // namespace
}  // namespace baton::hal::drivers::local
