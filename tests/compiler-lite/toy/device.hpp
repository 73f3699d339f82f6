// A device that takes the format "toy-text" alone. A dispatch writes the kernel's name, again and again, over each
// binding that the text calls written, and notes how it was called.
//
// Threads: one.
#pragma once

#include <sstream>

#include "base/text.hpp"
#include "hal/drivers/common/command_list.hpp"
#include "hal/drivers/common/host_allocator.hpp"
#include "hal/drivers/common/host_queue.hpp"
#include "hal/drivers/common/host_semaphore.hpp"
#include "hal/drivers/common/resolve.hpp"
#include "hal/drivers/null/command_buffer.hpp"
#include "hal/validating_command_buffer.hpp"

namespace baton::compiler_lite::toy {

class Executable final : public hal::Executable {
 public:
  struct Kernel {
    std::string name;
    uint32_t words = 0;
    std::vector<std::string> bindings;  // "read" or "written"
  };

  Executable(const hal::ExecutableRequest& request, const hal::ExecutableVariant& variant, const void* device)
      : hal::Executable(request, device) {
    std::istringstream lines({reinterpret_cast<const char*>(variant.data.data()), variant.data.size()});
    std::string line, word;
    std::getline(lines, title_);
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      Kernel kernel;
      words >> word >> kernel.name >> word >> kernel.words >> word;
      while (words >> word) kernel.bindings.push_back(word);
      entry_points_.push_back({.name = kernel.name,
                               .constant_count = kernel.words,
                               .binding_count = static_cast<uint32_t>(kernel.bindings.size())});
      kernels_.push_back(std::move(kernel));
    }
  }

  const std::string& title() const { return title_; }
  const Kernel& kernel(uint32_t entry_point) const { return kernels_[entry_point]; }

 private:
  std::string title_;
  std::vector<Kernel> kernels_;
};

class Queue final : public hal::HostQueue {
 public:
  explicit Queue(hal::Device& device) : HostQueue(device) {}

  std::string log;

 private:
  Status run_recording(hal::Recording& recording, const hal::BindingTable& table) override {
    static_cast<hal::CommandList&>(recording).for_each([&](uint32_t, const auto& command) { run(command, table); });
    return {};
  }

  template <typename Command>
  void run(const Command&, const hal::BindingTable&) {}  // Programs of the test dispatch and do nothing else.
  void run(const hal::commands::Dispatch& command, const hal::BindingTable& table) {
    const auto& executable = static_cast<const Executable&>(*command.executable);
    const Executable::Kernel& kernel = executable.kernel(command.entry_point);
    log += text(executable.title(), ": ", kernel.name, ", ", command.constants.size(), " words, ",
                command.bindings.size(), " bindings\n");
    for (size_t i = 0; i < kernel.bindings.size(); ++i) {
      if (kernel.bindings[i] == "written") write_name(kernel.name, hal::resolve(command.bindings[i], table.buffers));
    }
  }

  static void write_name(std::string_view name, const hal::ResolvedRange& range) {
    hal::Mapping memory =
        const_cast<hal::Buffer*>(range.root)->map(hal::Access::kWrite, range.start, range.end - range.start).value();
    for (size_t i = 0; i < memory.bytes().size(); ++i)
      memory.bytes()[i] = static_cast<std::byte>(name[i % name.size()]);
  }
};

class Device final : public hal::Device {
 public:
  Device()
      : hal::Device("toy", hal::DeviceLimits{}),
        allocator_(system_allocator(), limits().buffer_bytes_max, this),
        queue_(*this) {}

  hal::Allocator& allocator() override { return allocator_; }
  Queue& queue() override { return queue_; }
  Result<Ref<hal::Semaphore>> make_semaphore(uint64_t initial_value) override {
    return Ref<hal::Semaphore>(make_ref<hal::HostSemaphore>(initial_value));
  }
  hal::FormatMatch match_format(std::string_view format) const override {
    if (format == "toy-text") return {0, "text"};
    return {-1, "not toy-text"};
  }

 private:
  std::unique_ptr<hal::CommandBuffer> do_make_command_buffer(const hal::RecordingOptions& options) override {
    return hal::make_commands<hal::drivers::null::CommandBuffer>(*this, options);
  }
  Result<Ref<hal::Executable>> do_make_executable(const hal::ExecutableRequest& request,
                                                  const hal::ExecutableVariant& variant) override {
    return Ref<hal::Executable>(make_ref<Executable>(request, variant, this));
  }

  hal::HostAllocator allocator_;
  Queue queue_;
};

}  // namespace baton::compiler_lite::toy
