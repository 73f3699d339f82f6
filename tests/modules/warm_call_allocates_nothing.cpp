// Goal: a warm call from the host through bytecode into a native function allocates nothing. Method: operator new
// and the context's allocator are counted while warm calls run; our code reaches malloc through nothing else.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "modules/native_module.hpp"
#include "modules/sdk/module.hpp"
#include "tests/modules/linked_program.hpp"

namespace {

std::atomic<uint64_t> allocations{0};

void* counted(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  std::abort();
}

}  // namespace

void* operator new(size_t size) { return counted(size); }
void* operator new[](size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace baton::modules {
namespace {

// Counts what the context and the invocation ask for.
const Allocator kCountingAllocator = {nullptr,
                                      [](void*, size_t size, size_t alignment, int zeroed) {
                                        allocations.fetch_add(1, std::memory_order_relaxed);
                                        return system_allocator().allocate_bytes(nullptr, size, alignment, zeroed);
                                      },
                                      [](void*, void* memory) { system_allocator().free_bytes(nullptr, memory); }};

class Numbers final : public sdk::Module<Numbers> {
 public:
  int32_t add(int32_t a, int32_t b) { return a + b; }
  int64_t size(std::string_view text) const { return static_cast<int64_t>(text.size()); }
  Ref<Blob> same(Ref<Blob> blob) const { return blob; }
  Result<std::tuple<int64_t, double>> pair(Variadic<int32_t> numbers) const {
    return std::tuple(int64_t{numbers[0]}, numbers[1] * 0.5);
  }
};
BATON_MODULE_QUERY(query_numbers, Numbers, "numbers", BATON_FUNCTION("add", &Numbers::add),
                   BATON_FUNCTION("size", &Numbers::size), BATON_FUNCTION("same", &Numbers::same),
                   BATON_FUNCTION("pair", &Numbers::pair));

constexpr std::string_view kProgram = R"(
module @program
import @numbers.add(i32, i32) -> i32
import @numbers.size(blob) -> i64
import @numbers.same(blob) -> blob
import @numbers.pair((i32)...) -> (i64, f64)
rodata @text = "hello"
export func @all(%n: i32) -> i64 values 8 refs 2 {
  move %v2, %v0
  move %v3, %v0
  call.import @numbers.add, %v2, %r0
  move %v3, %v2
  call.variadic @numbers.pair, %v2, %r0, [2]
  rodata %r0, @text
  call.import @numbers.same, %v2, %r0
  call.import @numbers.size, %v2, %r0
  return.value %v2
}
)";

TEST(WarmCall, AllocatesNothing) {
  auto numbers = NativeModule::make(query_numbers);
  ASSERT_TRUE(numbers.has_value()) << numbers.error().to_string();
  LinkedProgram program({*numbers}, kProgram, kCountingAllocator);
  const vm::ExportedFunction function = program.find("all");
  vm::Invocation invocation(program.context);
  const vm::TypedValue argument = int32_t{21};
  vm::Value result;
  ASSERT_TRUE(invocation.invoke(function, {&argument, 1}, {&result, 1}).ok());
  ASSERT_EQ(result.i64, 5);

  const uint64_t before = allocations.load();
  ASSERT_GT(before, 0u) << "the counter counts";
  for (int i = 0; i < 1000; ++i) (void)invocation.invoke(function, {&argument, 1}, {&result, 1}).ok();
  EXPECT_EQ(allocations.load() - before, 0u);
}

}  // namespace
}  // namespace baton::modules
