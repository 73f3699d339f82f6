#include "tests/conformance/suite.hpp"

#include <algorithm>
#include <deque>

namespace baton::hal::conformance {
namespace {

std::deque<Backend>& backends() {
  static std::deque<Backend> all;
  return all;
}

}  // namespace

bool register_backend(Backend backend) {
  backends().push_back(std::move(backend));
  return true;
}

const std::vector<const Backend*>& all_backends() {
  static const std::vector<const Backend*> all = [] {
    std::vector<const Backend*> pointers;
    for (const Backend& backend : backends()) pointers.push_back(&backend);
    std::sort(pointers.begin(), pointers.end(), [](auto* a, auto* b) { return a->name < b->name; });
    return pointers;
  }();
  return all;
}

std::string backend_test_name(const testing::TestParamInfo<const Backend*>& info) {
  std::string name(info.param->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

const Exemption* DeviceTest::find(const std::vector<Exemption>& exemptions) const {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = text(test->test_suite_name(), ".", test->name());
  for (const Exemption& exemption : exemptions) {
    if (name.find(exemption.pattern) != std::string::npos) return &exemption;
  }
  return nullptr;
}

void DeviceTest::SetUp() {
  if (const Exemption* exemption = find(GetParam()->unsupported)) GTEST_SKIP() << exemption->reason;
  auto opened = GetParam()->open();
  if (!opened.has_value() && opened.error().code() == StatusCode::kUnavailable) {
    GTEST_SKIP() << opened.error().to_string();
  }
  ASSERT_OK(opened);
  device_ = std::move(opened).value();
}

// An expected failure that passes is news: the exemption must go.
// Whatever was refused or failed, the device goes on.
void DeviceTest::expect_usable() {
  const Ref<Buffer> source = buffer_of<uint32_t>({1, 2, 3, 4}), target = buffer(16);
  auto commands = record({.name = "afterwards"});
  EXPECT_OK(commands->copy_buffer({.source = source, .target = target}));
  EXPECT_OK(run(*commands));
  expect_values<uint32_t>(*target, {1, 2, 3, 4});
}

void DeviceTest::TearDown() {
  if (device_ && !IsSkipped()) expect_usable();
  const Exemption* exemption = find(GetParam()->expected_failures);
  if (exemption && !HasFailure()) ADD_FAILURE() << "expected to fail, but passed: " << exemption->reason;
}

Ref<Semaphore> DeviceTest::semaphore(uint64_t value) { return device().make_semaphore(value).value(); }

Ref<Buffer> DeviceTest::buffer(uint64_t length, BufferUsage usage) {
  return device().allocator().allocate({.length = length, .usage = usage}).value();
}

Ref<Executable> DeviceTest::kernels() {
  static const std::vector<EntryPoint> expected = {
      {.name = "add", .constant_count = 1, .binding_count = 3, .workgroup_size = {64, 1, 1}},
      {.name = "scale", .constant_count = 2, .binding_count = 1, .workgroup_size = {64, 1, 1}},
      {.name = "write_ids", .binding_count = 1},
      {.name = "local_sum", .binding_count = 2, .workgroup_size = {16, 1, 1}},
      {.name = "fail", .binding_count = 1}};
  return device().make_executable({.name = "kernels", .variants = GetParam()->kernels, .expected = expected}).value();
}

std::unique_ptr<CommandBuffer> DeviceTest::record(const RecordingOptions& options) {
  return device().make_command_buffer(options).value();
}

Ref<Recording> DeviceTest::finish(CommandBuffer& commands) { return commands.finish().value(); }

Status DeviceTest::run(Recording& recording, const BindingTable& table) {
  const Ref<Semaphore> done = semaphore();
  const SemaphorePoint signal(done, 1);
  BATON_TRY(queue().execute({.signals = {&signal, 1}}, recording, table));
  return done->wait(1);
}

}  // namespace baton::hal::conformance
