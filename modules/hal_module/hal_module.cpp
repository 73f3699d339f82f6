#include "modules/hal_module/hal_module.hpp"

#include <optional>

#include "base/check.hpp"
#include "hal/executable_registry.hpp"
#include "hal/memory_owner.hpp"
#include "modules/device_door.hpp"
#include "modules/hal_module/device_choice.hpp"
#include "modules/hal_module/executable_row.hpp"
#include "modules/hal_module/exports.hpp"
#include "modules/hal_module/fence_wait.hpp"
#include "modules/shared_module.hpp"

namespace baton::modules {
namespace {

// One for each context, with the devices and the code of all: nothing in it changes.
class HalModule final : public sdk::Module<HalModule> {
 public:
  explicit HalModule(HalModuleOptions options)
      : executables_(std::move(options.executables)), ranks_(std::move(options.ranks)) {
    for (const baton::Ref<hal::Device>& device : options.devices) devices_.push_back(wrap(device));
    given_ = std::move(options.devices);
  }

  HalModule for_context() const {
    HalModule made(*this);
    made.owner_ = hal::MemoryOwner::make();
    return made;
  }

  baton::Result<baton::Ref<hal::Buffer>> allocate(hal::Device& device, uint32_t memory, uint32_t usage,
                                                  int64_t length) const {
    const hal::MemoryOwner owner(owner_);
    return exports::device::allocate(device, memory, usage, length);
  }

  baton::Result<baton::Ref<hal::Buffer>> queue_allocate(hal::Device& device, hal::Fence* wait, hal::Fence* signal,
                                                        uint32_t memory, uint32_t usage, int64_t length) const {
    const hal::MemoryOwner owner(owner_);
    return exports::queue::allocate(device, wait, signal, memory, usage, length);
  }

  int64_t count() const { return static_cast<int64_t>(devices_.size()); }

  Ref<Handle<hal::Device>> get(int64_t index) const {
    if (index < 0 || index >= count()) return nullptr;
    return devices_[static_cast<size_t>(index)];
  }

  baton::Result<Ref<Handle<hal::Device>>> find_device(std::string_view name, std::string_view choices) const {
    BATON_TRY_ASSIGN(const size_t found, choose_device(given_, name, choices));
    return devices_[found];
  }

  baton::Result<std::tuple<baton::Ref<hal::Buffer>, baton::Ref<hal::Fence>>> take(hal::Device& device, hal::Fence* wait,
                                                                                  hal::Buffer& buffer) const {
    const hal::MemoryOwner owner(owner_);
    return exports::queue::take(given_, device, wait, buffer);
  }

  baton::Result<baton::Ref<hal::Channel>> make_channel(hal::Device& device, std::string_view name, uint32_t rank,
                                                       uint32_t count) const {
    hal::Ranks ranks;
    if (ranks_) {
      ranks = *ranks_;
    } else {
      BATON_TRY_ASSIGN(ranks, hal::ranks_of_process());
    }
    hal::ChannelRequest request = ranks.channel(name);
    if (count != 0) request.rank = rank, request.rank_count = count;
    return device.make_channel(request);
  }

  baton::Result<baton::Ref<hal::Executable>> load(hal::Device& device, ExecutableRow& row,
                                                  const sdk::Variadic<uint32_t>& conditions,
                                                  const sdk::Variadic<uint32_t>& constants) const {
    const bytecode::ExecutableView view = (*row).view();
    const auto words_of = [](const sdk::Variadic<uint32_t>& given) {
      std::vector<uint32_t> words;
      for (const uint32_t word : given) words.push_back(word);
      return words;
    };
    if (view.registered_name().empty()) return load_row(device, row, words_of(conditions), words_of(constants));
    BATON_TRY_ASSIGN(const std::vector<hal::EntryPoint> expected, expected_of(view, bytecode::kNoIndex));
    return find(device, view.registered_name(), expected);
  }

  baton::Result<baton::Ref<hal::Executable>> lookup(hal::Device& device, std::string_view name) const {
    return find(device, name, {});
  }

  baton::Result<baton::Ref<hal::Executable>> lookup_with_entry_points(
      hal::Device& device, std::string_view name, const exports::executable::EntryPoints& entry_points,
      const exports::executable::LaunchAttributes& attributes) const {
    BATON_TRY_ASSIGN(const std::vector<hal::EntryPoint> expected,
                     exports::executable::read_entry_points(entry_points, attributes));
    return find(device, name, expected);
  }

 private:
  baton::Result<baton::Ref<hal::Executable>> find(hal::Device& device, std::string_view name,
                                                  std::span<const hal::EntryPoint> expected) const {
    const hal::ExecutableRegistry none;
    const hal::ExecutableRegistry* registered = executables_ ? executables_.get() : device.executables();
    return (registered ? *registered : none).load(device, name, expected);
  }

  std::vector<Ref<Handle<hal::Device>>> devices_;
  std::vector<baton::Ref<hal::Device>> given_;  // The same.
  std::shared_ptr<const hal::ExecutableRegistry> executables_;
  std::optional<hal::Ranks> ranks_;
  uint64_t owner_ = hal::MemoryOwner::kNobody;  // Of the memory that programs of this context ask for.
};

}  // namespace

Result<Ref<const vm::Module>> make_hal_module(HalModuleOptions options) {
  BATON_CHECK(host_table().devices == device_door().devices);  // Linked with us: native modules may record.
  for (const Ref<hal::Device>& device : options.devices) {
    if (options.executables) device->set_executables(options.executables);
  }
  using namespace exports;
  const std::initializer_list<sdk::Export> exported = {
#define OBJECT(Class, name) BATON_TYPE(Handle<hal::Class>),
#define OWN_OBJECT(Class, name) BATON_TYPE(Class),
#define IMPORT(name, arguments, results, function, meaning) BATON_FUNCTION(name, function),
#include "modules/hal_module/imports.inc"
  };
  return make_shared_module<HalModule>("hal", exported, std::move(options));
}

}  // namespace baton::modules
