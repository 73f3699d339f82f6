// A warm call allocates nothing. This program counts every operator new and every malloc under it.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/support/native_test_module.hpp"
#include "tests/support/program_builder.hpp"

namespace {

std::atomic<uint64_t> allocations{0};

void* count_and_allocate(size_t size) {
  ++allocations;
  void* memory = std::malloc(size ? size : 1);
  if (!memory) std::abort();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return count_and_allocate(size); }
void* operator new[](size_t size) { return count_and_allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace baton::vm {
namespace {

// The VM's own memory comes from here, so that its mallocs are counted too.
const Allocator kCounting{.self = nullptr,
                          .allocate_bytes = [](void*, size_t size, size_t alignment, int zeroed) -> void* {
                            ++allocations;
                            return system_allocator().allocate_bytes(nullptr, size, alignment, zeroed);
                          },
                          .free_bytes = [](void*, void* memory) { system_allocator().free_bytes(nullptr, memory); }};

constexpr std::string_view kProgram = R"(
import @native.add(i32, i32) -> i32
import @native.same(ref, ref) -> ref
global @count : i64
export func @work(%n: i32, %r: ref) -> (i32, ref) {
  yield
  add.imm.i32 %v1, %n, 1
  call @inner, %v1, %r1
  global.get %v2, @count
  global.set %v2, @count
  call.import @native.add, %n, %r1
  ref.null %r1
  call.import @native.same, %v1, %r0
  return
}
func @inner(%n: i32) -> i32 {
  call.tail @leaf
}
func @leaf(%n: i32) -> i32 {
  return
}
export func @alloc() -> blob {
  const.i64 %v0, 8
  blob.alloc %r0, %v0
  return
})";

TEST(Allocation, AWarmCallAllocatesNothing) {
  const Ref<Context> context =
      testing::make_context({testing::make_native_module(), testing::load_text(kProgram)}, kCounting);
  const ExportedFunction work = testing::expect_ok(context->find_function("work"));
  const ExportedFunction native = testing::expect_ok(context->find_function("native.add"));
  Invocation invocation(context);
  invocation.set_deadline(monotonic_clock_ns() + int64_t{3'600'000'000'000});
  const Ref<Blob> blob = Blob::make(1);
  Value slots[2];
  const auto once = [&] {
    slots[0] = Value::of(int32_t{20});
    slots[1] = Value::of(blob.get());
    testing::expect_ok(invocation.invoke_slots(work, slots, slots));
    release_object(slots[1].ref);
    slots[1] = Value::of(int32_t{1});
    testing::expect_ok(invocation.invoke_slots(native, slots, {slots, 1}));
  };
  once();
  const uint64_t before = allocations;
  for (int i = 0; i < 100; ++i) once();
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_EQ(slots[0].i32, 42);
}

TEST(Allocation, IsCountedHere) {
  const Ref<Context> context =
      testing::make_context({testing::make_native_module(), testing::load_text(kProgram)}, kCounting);
  const ExportedFunction alloc = testing::expect_ok(context->find_function("alloc"));
  Invocation invocation(context);
  const uint64_t before = allocations;
  Value slot;
  testing::expect_ok(invocation.invoke(alloc, {}, {&slot, 1}));
  EXPECT_EQ(allocations - before, 1u);
  release_object(slot.ref);
}

}  // namespace
}  // namespace baton::vm
