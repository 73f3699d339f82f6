// Goal: a module's view of devices, memory, tensors and fences says what they are, keeps them alive, and loses no
// failure. Method: the classes of the twin are used on a local device as a module would.
#include "modules/sdk/device.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "hal/allocator.hpp"
#include "modules/sdk/module.hpp"
#include "tests/modules/hal_module/device_program.hpp"

namespace baton::sdk {
namespace {

using modules::Handle;

class DeviceTest : public testing::Test {
 protected:
  Device& device() { return *reinterpret_cast<Device*>(handle_.get()); }
  Ref<Buffer> buffer_of(std::vector<int32_t> values) {
    Result<Ref<Buffer>> buffer = device().allocate({.length = values.size() * 4});
    EXPECT_TRUE(buffer.has_value());
    auto mapping = (*buffer)->map_to_overwrite<int32_t>();
    std::copy(values.begin(), values.end(), mapping->begin());
    return *buffer;
  }
  Ref<Fence> fence() { return *device().make_fence(); }

  baton::Ref<hal::Device> hal_device_ = modules::open_device("local-sync");
  baton::Ref<const vm::Module> hal_ = modules::hal_module_on({hal_device_});  // binds the host
  Ref<Handle<hal::Device>> handle_ = modules::wrap(hal_device_);
};

TEST_F(DeviceTest, TellsWhatItIs) {
  EXPECT_EQ(device().name(), "local-sync");
  EXPECT_EQ(device().driver(), "local");
  EXPECT_GT(*device().query("hal.device", "bindings_max"), 0);
  EXPECT_EQ(device().query("hal.device", "color").error().code(), StatusCode::kNotFound);
  EXPECT_EQ(Device::object_type()->name, std::string_view(Device::kTypeName));
}

TEST_F(DeviceTest, LoadsWhatFitsAndSaysWhyNothingDoes) {
  const auto name = std::as_bytes(std::span("kernels", 7));
  const ExecutableVariant variants[] = {{"cuda-sm_90", {}}, {"static-library", name}};
  const auto code = device().make_executable("kernels", variants);
  ASSERT_TRUE(code.has_value()) << code.error().message();
  EXPECT_EQ(*(*code)->entry_point("scale"), 1u);
  EXPECT_NE((*code)->entry_point("scales").error().message().find("scale"), std::string_view::npos);
  EXPECT_EQ(device().make_executable("kernels", variants[0]).error().message(),
            "None of the 1 variants of executable 'kernels' fits device 'local-sync'.\n"
            "  'cuda-sm_90': not a format of the local device");
  EXPECT_TRUE(device().lookup_executable("host.kernels").has_value());
  EXPECT_NE(device().lookup_executable("nothing").error().message().find("host.kernels"), std::string_view::npos);
}

TEST_F(DeviceTest, MapsMemory) {
  const Ref<Buffer> buffer = buffer_of({1, 2, 3, 4});
  EXPECT_EQ(buffer->length(), 16u);
  const auto middle = buffer->subspan(4, 8);
  const auto words = (*middle)->map<const int32_t>();
  EXPECT_EQ(words->size(), 2u);
  EXPECT_EQ((*words)[1], 3);
  EXPECT_EQ((*buffer->device())->identity(), device().identity());
  EXPECT_EQ(buffer->subspan(12, 8).error().message(), "Subspan [12, 20) ends beyond the buffer length (16).");
  EXPECT_EQ(buffer->map<int32_t>(16, 4).error().code(), StatusCode::kOutOfRange);
  baton_mapping mapping = {};
  for (const uint32_t access : {0u, BATON_ACCESS_DISCARD, BATON_ACCESS_READ | BATON_ACCESS_DISCARD, 7u, 8u}) {
    const auto refused = Status::adopt(device_table()->buffer_map(buffer->handle(), access, 0, 4, &mapping));
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument) << access;
  }
}

TEST_F(DeviceTest, MapsConstantsOnlyToRead) {
  const auto module = Blob::copy("abcd");
  std::string bytes = "abcd";
  const auto usage = hal::BufferUsage::kMapping | hal::BufferUsage::kConstant;
  const auto constant = hal_device_->allocator().import_host(std::as_writable_bytes(std::span(bytes)), usage);
  const auto handle = modules::wrap(*constant);
  const Buffer& buffer = *reinterpret_cast<const Buffer*>(handle.get());
  EXPECT_EQ((*buffer.map<const char>())[2], 'c');
  EXPECT_EQ(buffer.map<char>().error().message(), "Mapping writes to a constant buffer (usage mapping|constant).");
}

TEST_F(DeviceTest, RefusesMemoryThatCannotBe) {
  EXPECT_EQ(device().allocate({.length = ~uint64_t{0}}).error().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(device().allocate({.length = 8, .memory = 8}).error().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(device().allocate({.length = 8, .usage = 1 << 20}).error().code(), StatusCode::kInvalidArgument);
  baton_buffer_request small = {4, 3, 63, 0, 8};
  baton_buffer* out = nullptr;
  const Status status = Status::adopt(device_table()->buffer_allocate(device().handle(), &small, &out));
  EXPECT_EQ(status.message(), "A module makes a request of 4 bytes; it takes 24 or more.");
}

TEST_F(DeviceTest, SeesTensorsAsElements) {
  const int64_t shape[] = {2, 3};
  const auto view = BufferView::make(*buffer_of({1, 2, 3, 4, 5, 6}), BATON_ELEMENT_U32, shape);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ((*view)->element_count(), 6);
  EXPECT_EQ((*view)->shape()[1], 3);
  EXPECT_EQ((*view)->encoding(), BATON_ENCODING_DENSE_ROW_MAJOR);
  EXPECT_EQ((*(*view)->map<const int32_t>())[5], 6);
  EXPECT_EQ((*view)->map<const float>().error().message(),
            "A tensor of element type 800 is not one of element type 1056.");
  EXPECT_FALSE((*view)->map<const int64_t>().has_value());
  const int64_t large[] = {7};
  EXPECT_FALSE(BufferView::make(*buffer_of({1, 2, 3, 4, 5, 6}), BATON_ELEMENT_U32, large).has_value());
  EXPECT_EQ(BufferView::make(*buffer_of({1}), 77, large).error().code(), StatusCode::kInvalidArgument);
}

TEST_F(DeviceTest, WaitsForFences) {
  const Ref<Fence> passed = fence();
  EXPECT_EQ(passed->wait(0).code(), StatusCode::kDeadlineExceeded);
  std::thread signaller([&] { EXPECT_TRUE(passed->signal().ok()); });
  EXPECT_TRUE(passed->wait().ok());
  signaller.join();
  const Ref<Fence> failed = fence();
  failed->fail(failure(StatusCode::kDataLoss, "Lost."));
  EXPECT_EQ(failed->wait().message(), "Lost.");
}

TEST_F(DeviceTest, CallsBackWhenAFenceIsDone) {
  std::vector<std::string> log;
  const auto note = [&log](const char* name) {
    return [&log, name](Status status) { log.push_back(name + std::string(" ") + std::string(status.message())); };
  };
  const Ref<Fence> early = fence(), late = fence(), lost = fence();
  ASSERT_TRUE(early->signal().ok());
  early->on_ready(note("early"));
  late->on_ready(note("late"));
  lost->on_ready(note("lost"));
  WaitFence().on_ready(note("nothing"));
  EXPECT_EQ(log, (std::vector<std::string>{"early ", "nothing "}));
  ASSERT_TRUE(late->signal().ok());
  lost->fail(failure(StatusCode::kDataLoss, "gone"));
  EXPECT_EQ(log, (std::vector<std::string>{"early ", "nothing ", "late ", "lost gone"}));
}

TEST_F(DeviceTest, TellsWhoWaitsThatNobodyWillSignal) {
  std::string told;
  {
    const Ref<Fence> dropped = fence();
    dropped->on_ready([&](Status status) { told = status.message(); });
  }
  EXPECT_NE(told, "");
}

TEST_F(DeviceTest, JoinsAllPointsOfAFence) {
  const auto a = *hal_device_->make_semaphore(0), b = *hal_device_->make_semaphore(0);
  auto joined = hal::Fence::at(*a, 1);
  joined->insert({b, 1});
  const auto handle = modules::wrap(std::move(joined));
  int calls = 0;
  std::string message;
  reinterpret_cast<Fence*>(handle.get())->on_ready([&](Status status) {
    ++calls;
    message = status.message();
  });
  b->fail(baton::Status(baton::StatusCode::kAborted, "b is gone"));
  EXPECT_EQ(calls, 0) << "not before all are done";
  ASSERT_TRUE(a->signal(1).ok());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(message, "b is gone");
}

TEST_F(DeviceTest, ASignalThatIsDroppedFails) {
  const Ref<Fence> dropped = fence(), finished = fence(), refused = fence();
  { const SignalFence signal(dropped); }
  EXPECT_EQ(dropped->wait().code(), StatusCode::kAborted);
  {
    SignalFence signal(finished);
    SignalFence moved = std::move(signal);
    moved.finish();
    moved.finish(failure(StatusCode::kInternal, "too late"));
  }
  EXPECT_TRUE(finished->wait().ok());
  { SignalFence(refused).finish(failure(StatusCode::kUnavailable, "Not today.")); }
  EXPECT_EQ(refused->wait().message(), "Not today.");
  SignalFence().finish();
  EXPECT_TRUE(WaitFence().wait().ok());
}

TEST_F(DeviceTest, AllocatesInTheOrderOfFences) {
  const Ref<Fence> wait = fence(), ready = fence();
  const auto buffer = device().queue_allocate(wait.get(), ready.get(), {.length = 64});
  ASSERT_TRUE(buffer.has_value());
  EXPECT_EQ(ready->wait(0).code(), StatusCode::kDeadlineExceeded);
  ASSERT_TRUE(wait->signal().ok());
  EXPECT_TRUE(ready->wait().ok());
  EXPECT_TRUE((*buffer)->map<int>().has_value());
  EXPECT_TRUE(device().queue_barrier(ready.get(), nullptr).ok());
  EXPECT_TRUE(device().queue_free(ready.get(), nullptr, **buffer).ok());
  EXPECT_FALSE(device().queue_free(nullptr, nullptr, **buffer).ok()) << "freed already";

  const Ref<Fence> signal = fence();
  EXPECT_FALSE(device().queue_allocate(nullptr, signal.get(), {.length = ~uint64_t{0}}).has_value());
  EXPECT_EQ(signal->wait().code(), StatusCode::kInvalidArgument) << "who waits for it learns why";
}

TEST_F(DeviceTest, KeepsThingsPerDevice) {
  const auto null = modules::wrap(modules::open_device("null"));
  Device& other = *reinterpret_cast<Device*>(null.get());
  PerDevice<std::string> names;
  names.add(device(), "first");
  EXPECT_EQ(names.find(other), nullptr);
  names.add(other, "second");
  const auto again = modules::wrap(hal_device_);  // another object for the same device
  EXPECT_EQ(names[*reinterpret_cast<Device*>(again.get())], "first");
  EXPECT_EQ(names[other], "second");
}

Ref<BufferView> call_later(const BufferView&, WaitFence, SignalFence) { return nullptr; }

TEST_F(DeviceTest, StandsInSignatures) {
  EXPECT_STREQ(BATON_FUNCTION("call", &call_later).signature,
               "r<hal.buffer_view>r<hal.fence>r<hal.fence>_r<hal.buffer_view>");
  EXPECT_EQ(kElementType<float>, BATON_ELEMENT_F32);
  EXPECT_EQ(kElementType<bool>, BATON_ELEMENT_I1);
  EXPECT_EQ(kElementType<uint16_t>, BATON_ELEMENT_I16);
}

// What only a plugin in C can forget.
TEST_F(DeviceTest, TheTableNamesWhatIsMissingOrAnotherObject) {
  const baton_device_table& table = *host().devices;
  baton_device* const device = this->device().handle();
  const Ref<Buffer> memory = buffer_of({1, 2});
  baton_buffer* const buffer = memory->handle();
  const auto as_buffer = [](auto* object) { return reinterpret_cast<baton_buffer*>(object); };
  const auto* const no_fence = reinterpret_cast<const baton_fence*>(buffer);
  const baton_buffer_request request = {sizeof(request), 3, BATON_USAGE_ALL, 0, 64};
  const int64_t shape[] = {2};
  baton_buffer_view_request view = {sizeof(view), BATON_ELEMENT_F32, 1, 1, nullptr};
  baton_executable_request code = {sizeof(code), 1, nullptr, {"code", 4}, nullptr, 0};
  const baton_executable_variant unread = {{"static-library", 14}, nullptr, 8};
  baton_executable_request nowhere = {sizeof(nowhere), 1, &unread, {"code", 4}, nullptr, 0};
  const baton_string nothing = {nullptr, 3}, name = {"x", 1};
  baton_buffer* out = nullptr;
  baton_buffer_view* out_view = nullptr;
  baton_executable* out_code = nullptr;
  baton_mapping mapping = {};
  int64_t number = 0;
  uint32_t index = 0;
  for (baton_status* status : {
           table.device_query(nullptr, name, name, &number),
           table.device_query(device, nothing, name, &number),
           table.device_query(device, name, name, nullptr),
           table.executable_make(nullptr, &code, &out_code),
           table.executable_make(device, &code, &out_code),
           table.executable_make(device, &nowhere, &out_code),
           table.executable_lookup(device, nothing, &out_code),
           table.executable_entry_point(nullptr, name, &index),
           table.buffer_allocate(nullptr, &request, &out),
           table.buffer_allocate(device, &request, nullptr),
           table.buffer_subspan(as_buffer(device), 0, 1, &out),
           table.buffer_device(nullptr, nullptr),
           table.buffer_map(as_buffer(device), 1, 0, 1, &mapping),
           table.buffer_map(buffer, 1, 0, 1, nullptr),
           table.buffer_view_make(nullptr, &view, &out_view),
           table.buffer_view_make(buffer, &view, &out_view),
           table.fence_make(nullptr, nullptr),
           table.fence_wait(no_fence, 0),
           table.fence_signal(no_fence),
           table.queue_allocate(device, no_fence, nullptr, &request, &out),
           table.queue_allocate(device, nullptr, nullptr, &request, nullptr),
           table.queue_free(device, nullptr, nullptr, nullptr),
           table.queue_free(device, nullptr, no_fence, buffer),
           table.queue_barrier(device, no_fence, nullptr),
       }) {
    const Status said = Status::adopt(status);
    EXPECT_EQ(said.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(said.message().find(" is null"), std::string_view::npos) << said.message();
  }
  view.shape = shape;
  view.rank = UINT32_MAX;
  EXPECT_EQ(Status::adopt(table.buffer_view_make(buffer, &view, &out_view)).message(),
            "A shape has 4294967295 dimensions; at most 65535 are possible.");
  EXPECT_EQ(table.buffer_length(as_buffer(device)), 0u);
  EXPECT_EQ(table.buffer_view_buffer(nullptr), nullptr);
  EXPECT_EQ(table.device_name(nullptr).size, 0u);
  table.buffer_unmap(nullptr);
  table.fence_on_ready(no_fence, nullptr, nullptr);
  int failures = 0;
  table.fence_on_ready(
      no_fence, [](void* data, const baton_status* failure) { *static_cast<int*>(data) += failure != nullptr; },
      &failures);
  EXPECT_EQ(failures, 1);
}

}  // namespace
}  // namespace baton::sdk
