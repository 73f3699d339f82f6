// hal.fence.*: points in time that a program makes, joins, waits for and passes on.

#include <ctime>

#include "modules/hal_module/exports.hpp"
#include "modules/hal_module/fence_wait.hpp"
#include "modules/hal_module/stack_list.hpp"

namespace baton::modules::exports {
namespace {

int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// -1 while one is not passed and none has failed; a failure before all else.
int32_t outcome_of_all(const Variadic<hal::Fence*>& fences) {
  bool passed = true;
  for (const hal::Fence* fence : fences) {
    const int32_t outcome = fence ? outcome_of(fence->points()) : BATON_OK;
    if (outcome > BATON_OK) return outcome;
    passed &= outcome == BATON_OK;
  }
  return passed ? BATON_OK : -1;
}

}  // namespace

int32_t PendingFences::wait(int64_t timeout_ns) {
  if (deadline_ns_ < 0) return wait_for(*fences_, timeout_ns);
  const int64_t left_ns = deadline_ns_ - now_ns();
  if (left_ns > 0 && timeout_ns != 0) {
    const int32_t outcome = wait_for(*fences_, timeout_ns < 0 || timeout_ns > left_ns ? left_ns : timeout_ns);
    if (outcome != -1 || now_ns() < deadline_ns_) return outcome;
    return BATON_DEADLINE_EXCEEDED;
  }
  const int32_t outcome = wait_for(*fences_, 0);
  return outcome == -1 && left_ns <= 0 ? BATON_DEADLINE_EXCEEDED : outcome;
}

namespace fence {

Result<Ref<hal::Fence>> create(hal::Device& device) {
  BATON_TRY_ASSIGN(Ref<hal::Semaphore> semaphore, device.make_semaphore(0));
  return hal::Fence::at(std::move(semaphore), 1);
}

Status signal(hal::Fence& fence) { return fence.signal(); }

Status fail(hal::Fence& fence, int32_t code, std::string_view message) {
  if (code <= BATON_OK || code > BATON_UNAUTHENTICATED) {
    return failure(StatusCode::kInvalidArgument, "A fence cannot fail with code ", code, "; failures have codes 1 to ",
                   BATON_UNAUTHENTICATED, ".");
  }
  fence.fail(Status(static_cast<StatusCode>(code), std::string(message)));
  return {};
}

Ref<hal::Fence> join(const Variadic<hal::Fence*>& fences) {
  auto joined = make_ref<hal::Fence>();
  for (const hal::Fence* fence : fences) {
    if (!fence) continue;
    for (const hal::SemaphorePoint& point : fence->points()) joined->insert(point);
  }
  return joined;
}

FenceWait await(int32_t timeout_millis, const Variadic<hal::Fence*>& fences) {
  const int32_t outcome = outcome_of_all(fences);
  if (outcome != -1) return FenceWait(outcome);
  if (timeout_millis == 0) return FenceWait(BATON_DEADLINE_EXCEEDED);
  const int64_t deadline_ns = timeout_millis < 0 ? -1 : now_ns() + int64_t{timeout_millis} * 1'000'000;
  return FenceWait(sdk::make<PendingFences>(join(fences), deadline_ns));
}

Status check(hal::Fence* fence) {
  if (!fence) return {};
  for (const hal::SemaphorePoint& point : fence->points()) {
    auto value = point.semaphore->query();
    if (!value) return std::move(value.error());
  }
  return {};
}

}  // namespace fence
}  // namespace baton::modules::exports
