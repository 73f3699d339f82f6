// Transfers: bytes from each device to each other one of this build, whatever memory they lie in, in the order of semaphores.
#include "hal/transfer.hpp"

#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

constexpr uint32_t kPattern = 0x01020304;
constexpr BufferUsage kUnseen = BufferUsage::kTransfer | BufferUsage::kDispatch;

// A buffer that the host sees, and one that it need not.
std::vector<Ref<Buffer>> buffers_of(Device& device, uint64_t length) {
  return {
      device.allocator().allocate({.length = length}).value(),
      device.allocator().allocate({.length = length, .memory = MemoryKind::kDeviceLocal, .usage = kUnseen}).value()};
}

// No transfer takes as long; one that does not end says how far it came.
constexpr int64_t kLimitNs = 60'000'000'000;

std::string value_of(Semaphore& semaphore) {
  const auto value = semaphore.query();
  return value.has_value() ? std::to_string(*value) : value.error().to_string();
}

std::string state_of(Device& device) {
  return text("\n  ", device.name(), ": ", device.queue().wait_idle(0).to_string());
}

// What is in it once `wait` is reached.
std::vector<uint32_t> words_of(Device& device, Buffer& buffer, const SemaphorePoint& wait) {
  const auto seen = device.allocator().allocate({.length = buffer.length()}).value();
  const auto done = device.make_semaphore(0).value();
  const SemaphorePoint point(done, 1);
  EXPECT_OK(device.queue().copy_buffer({{&wait, 1}, {&point, 1}}, {.source = buffer, .target = seen}));
  if (const Status waited = done->wait(1, kLimitNs); !waited.ok()) {
    ADD_FAILURE() << "the copy that shows what came: " << waited.to_string() << state_of(device);
    return {};
  }
  const auto mapping = seen->map(Access::kRead);
  const auto words = mapping->as<uint32_t>();
  return {words.begin(), words.end()};
}

// A fake GPU and a real one never meet: each takes the other for one of its driver's.
bool can_meet(std::string_view one, std::string_view other) {
  constexpr std::string_view kCuda = "cuda", kFake = "fake";
  const bool are_cuda = one.find(kCuda) != one.npos && other.find(kCuda) != other.npos;
  return !are_cuda || one.starts_with(kFake) == other.starts_with(kFake);
}

class TransferTest : public DeviceTest {
 protected:
  // With each device that is here, itself too.
  template <typename Check>
  void with_others(Check check) {
    for (const Backend* backend : all_backends()) {
      if (!can_meet(GetParam()->name, backend->name)) continue;
      const auto other = backend->open();
      if (!other.has_value()) continue;
      SCOPED_TRACE(backend->name);
      check(**other, backend->computes);
      EXPECT_OK((*other)->queue().wait_idle(kLimitNs));
    }
  }
};

TEST_P(TransferTest, BytesGoToEachOther) {
  with_others([&](Device& other, bool other_computes) {
    for (const auto& source : buffers_of(device(), 16)) {
      for (const auto& target : buffers_of(other, 24)) {
        const auto begin = semaphore(), filled = semaphore();
        const auto moved = other.make_semaphore(0).value();
        const SemaphorePoint start(begin, 1), written(filled, 1), arrived(moved, 1), cleared(moved, 2);
        // All of it is asked for before anything may begin.
        EXPECT_OK(other.queue().fill_buffer({.signals = {&arrived, 1}}, {.target = target, .pattern = 0}));
        EXPECT_OK(queue().fill_buffer({{&start, 1}, {&written, 1}}, {.target = source, .pattern = kPattern}));
        const SemaphorePoint both[] = {written, arrived};
        ASSERT_OK(transfer({both, {&cleared, 1}},
                           {device(), BufferRange(source.get(), 4, 12), other, BufferRange(target.get(), 8, 12)}));
        EXPECT_FALSE(moved->reached(2));
        EXPECT_OK(begin->signal(1));
        const auto words = words_of(other, *target, cleared);
        if (HasFailure()) {
          FAIL() << "values: begin " << value_of(*begin) << ", filled " << value_of(*filled) << ", moved "
                 << value_of(*moved) << state_of(device()) << state_of(other);
        }
        if (computes() && other_computes) {
          EXPECT_EQ(words, (std::vector<uint32_t>{0, 0, kPattern, kPattern, kPattern, 0}));
        }
        // And back, to other places.
        const SemaphorePoint home(filled, 2);
        ASSERT_OK(transfer({{&cleared, 1}, {&home, 1}},
                           {other, BufferRange(target.get(), 0, 12), device(), BufferRange(source.get(), 0, 12)}));
        const auto again = words_of(device(), *source, home);
        if (HasFailure()) {
          FAIL() << "on the way back, values: filled " << value_of(*filled) << ", moved " << value_of(*moved)
                 << state_of(device()) << state_of(other);
        }
        if (computes() && other_computes) {
          EXPECT_EQ(again, (std::vector<uint32_t>{0, 0, kPattern, kPattern}));
        }
      }
    }
  });
}

TEST_P(TransferTest, FailuresArrive) {
  with_others([&](Device& other, bool) {
    const auto source = buffer(16, kUnseen);
    const auto target = other.allocator().allocate({.length = 16}).value();
    const auto begin = semaphore();
    const auto moved = other.make_semaphore(0).value();
    const SemaphorePoint start(begin, 1), arrived(moved, 1);
    ASSERT_OK(transfer({{&start, 1}, {&arrived, 1}}, {device(), source, other, target}));
    begin->fail(failure(StatusCode::kDataLoss, "the source is gone"));
    EXPECT_FAILS(moved->wait(1, kLimitNs), StatusCode::kDataLoss, "the source is gone");
  });
}

TEST_P(TransferTest, WhatDoesNotFitIsRefused) {
  with_others([&](Device& other, bool) {
    const auto source = buffer(16);
    const auto target = other.allocator().allocate({.length = 24}).value();
    EXPECT_FAILS(transfer({}, {device(), source, other, target}), StatusCode::kInvalidArgument,
                 "Transfer source (16 bytes) and target (24) have different lengths.");
    EXPECT_FAILS(transfer({}, {device(), BufferRange(source.get(), 8, 16), other, BufferRange(target.get(), 0, 16)}),
                 StatusCode::kOutOfRange, "Transfer source [8, 24) ends beyond the buffer length (16).");
    EXPECT_OK(transfer({}, {device(), BufferRange(source.get(), 16, 0), other, BufferRange(target.get(), 3, 0)}));
    source->mark_freed();
    EXPECT_FAILS(transfer({}, {device(), source, other, BufferRange(target.get(), 0, 16)}),
                 StatusCode::kFailedPrecondition, "a buffer that was freed");
  });
}

BATON_CONFORMANCE(TransferTest);

}  // namespace
}  // namespace baton::hal::conformance
