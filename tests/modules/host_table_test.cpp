// Goal: the host table keeps its promises to code that trusts only the C headers. Method: use it as a C plugin would.
#include "modules/host_table.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "base/status.hpp"

namespace baton::modules {
namespace {

const baton_host& host = host_table();

baton_string text_of(std::string_view text) { return {text.data(), text.size()}; }
std::string_view text_of(baton_string text) { return {text.data, text.size}; }

// Reads and frees a failure.
std::string message_of(baton_status* status) {
  std::string message(text_of(host.status_message(status)));
  host.status_free(status);
  return message;
}

TEST(HostTable, HasEveryEntryOfItsVersion) {
  EXPECT_EQ(host.struct_size, sizeof(baton_host));
  EXPECT_EQ(host.abi_version, BATON_ABI_VERSION);
  const auto* words = reinterpret_cast<void* const*>(&host);
  for (size_t i = 1; i < offsetof(baton_host, devices) / sizeof(void*); ++i)
    EXPECT_NE(words[i], nullptr) << "word " << i;
  EXPECT_EQ(host.devices, nullptr) << "this program links no devices";
  EXPECT_EQ(host.recording, nullptr);
}

TEST(HostTable, MakesStatuses) {
  baton_status* status = host.status_make(BATON_NOT_FOUND, text_of("Nothing there."));
  EXPECT_EQ(host.status_code(status), BATON_NOT_FOUND);
  EXPECT_EQ(message_of(status), "Nothing there.");
  for (const int32_t none : {0, -5, 17, 999}) {
    baton_status* odd = host.status_make(static_cast<baton_status_code>(none), {nullptr, 3});
    EXPECT_EQ(host.status_code(odd), BATON_UNKNOWN) << none;
    host.status_free(odd);
  }
  EXPECT_EQ(host.status_code(nullptr), BATON_OK);
  EXPECT_EQ(text_of(host.status_message(nullptr)), "");
  host.status_free(nullptr);
}

TEST(HostTable, WrapsMemoryAndGivesItBack) {
  int memory = 5;
  bool released = false;
  baton_object* blob = host.blob_wrap(
      &memory, sizeof(memory), 1, [](void* flag) { *static_cast<bool*>(flag) = true; }, &released);
  uint64_t size = 0;
  int32_t writable = 0;
  EXPECT_EQ(host.blob_bytes(blob, &size, &writable), &memory);
  EXPECT_EQ(size, sizeof(memory));
  EXPECT_EQ(writable, 1);
  EXPECT_EQ(blob->type, host.blob_type);
  EXPECT_FALSE(released);
  baton_object_release(blob);
  EXPECT_TRUE(released);
}

TEST(HostTable, SaysWhatIsWrongWithAList) {
  baton_object* list = host.list_make(0);
  baton_object* blob = host.blob_make(1);
  char type = 0;
  baton_value value = baton_value_of_i32(1);
  EXPECT_EQ(message_of(host.list_push(list, 'q', value)), "List elements are of type i, I, f, F or r, not 'q'.");
  EXPECT_EQ(message_of(host.list_get(list, 0, &type, &value)), "List index (0) is beyond the list's size (0).");
  EXPECT_EQ(message_of(host.list_push(blob, 'i', value)), "The object is not a list.");
  EXPECT_EQ(host.list_size(blob), 0u);
  uint64_t size = 1;
  int32_t writable = 1;
  EXPECT_EQ(host.blob_bytes(list, &size, &writable), nullptr);
  EXPECT_EQ(size, 0u);
  baton_object_release(blob);
  baton_object_release(list);
}

TEST(HostTable, LendsItsAllocator) {
  void* memory = host.allocator->allocate_bytes(host.allocator->self, 100, 64, 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
  EXPECT_EQ(static_cast<char*>(memory)[99], 0);
  host.allocator->free_bytes(host.allocator->self, memory);
}

}  // namespace
}  // namespace baton::modules
