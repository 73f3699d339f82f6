#include "modules/hal_module/hal_module.hpp"

#include "base/check.hpp"
#include "hal/executable_registry.hpp"
#include "modules/device_door.hpp"
#include "modules/hal_module/exports.hpp"
#include "modules/hal_module/fence_wait.hpp"
#include "modules/shared_module.hpp"

namespace baton::modules {
namespace {

// All contexts share one: nothing in it changes.
class HalModule final : public sdk::Module<HalModule> {
 public:
  explicit HalModule(HalModuleOptions options) : executables_(std::move(options.executables)) {
    for (const baton::Ref<hal::Device>& device : options.devices) devices_.push_back(wrap(device));
  }

  int64_t count() const { return static_cast<int64_t>(devices_.size()); }

  Ref<Handle<hal::Device>> get(int64_t index) const {
    if (index < 0 || index >= count()) return nullptr;
    return devices_[static_cast<size_t>(index)];
  }

  baton::Result<baton::Ref<hal::Executable>> lookup(hal::Device& device, std::string_view name) const {
    return load(device, name, {});
  }

  baton::Result<baton::Ref<hal::Executable>> lookup_with_entry_points(
      hal::Device& device, std::string_view name, const exports::executable::EntryPoints& entry_points,
      const exports::executable::LaunchAttributes& attributes) const {
    BATON_TRY_ASSIGN(const std::vector<hal::EntryPoint> expected,
                     exports::executable::read_entry_points(entry_points, attributes));
    return load(device, name, expected);
  }

 private:
  baton::Result<baton::Ref<hal::Executable>> load(hal::Device& device, std::string_view name,
                                                  std::span<const hal::EntryPoint> expected) const {
    const hal::ExecutableRegistry none;
    const hal::ExecutableRegistry* registered = executables_ ? executables_.get() : device.executables();
    return (registered ? *registered : none).load(device, name, expected);
  }

  std::vector<Ref<Handle<hal::Device>>> devices_;
  std::shared_ptr<const hal::ExecutableRegistry> executables_;
};

}  // namespace

// In the order of README.md.
Result<Ref<const vm::Module>> make_hal_module(HalModuleOptions options) {
  BATON_CHECK(host_table().devices == device_door().devices);  // Linked with us: native modules may record.
  for (const Ref<hal::Device>& device : options.devices) {
    if (options.executables) device->set_executables(options.executables);
  }
  using namespace exports;
  const std::initializer_list<sdk::Export> exported = {
      BATON_TYPE(Handle<hal::Device>),
      BATON_TYPE(Handle<hal::Buffer>),
      BATON_TYPE(Handle<hal::BufferView>),
      BATON_TYPE(Handle<hal::Fence>),
      BATON_TYPE(Handle<hal::Executable>),
      BATON_TYPE(Handle<hal::CommandBuffer>),
      BATON_TYPE(Handle<hal::Recording>),

      BATON_FUNCTION("devices.count", &HalModule::count),
      BATON_FUNCTION("devices.get", &HalModule::get),
      BATON_FUNCTION("device.query", &device::query),
      BATON_FUNCTION("device.allocate", &device::allocate),
      BATON_FUNCTION("device.constant", &device::constant),
      BATON_FUNCTION("device.load", &device::load),

      BATON_FUNCTION("buffer.length", &buffer::length),
      BATON_FUNCTION("buffer.subspan", &buffer::subspan),
      BATON_FUNCTION("buffer.load", &buffer::load),
      BATON_FUNCTION("buffer.store", &buffer::store),

      BATON_FUNCTION("buffer_view.create", &buffer_view::create),
      BATON_FUNCTION("buffer_view.buffer", &buffer_view::buffer),
      BATON_FUNCTION("buffer_view.rank", &buffer_view::rank),
      BATON_FUNCTION("buffer_view.dim", &buffer_view::dim),
      BATON_FUNCTION("buffer_view.element_type", &buffer_view::element_type),
      BATON_FUNCTION("buffer_view.encoding", &buffer_view::encoding),
      BATON_FUNCTION("buffer_view.assert", &buffer_view::check),

      BATON_FUNCTION("queue.allocate", &queue::allocate),
      BATON_FUNCTION("queue.free", &queue::free),
      BATON_FUNCTION("queue.fill", &queue::fill),
      BATON_FUNCTION("queue.update", &queue::update),
      BATON_FUNCTION("queue.copy", &queue::copy),
      BATON_FUNCTION("queue.execute", &queue::execute),
      BATON_FUNCTION("queue.barrier", &queue::barrier),

      BATON_FUNCTION("fence.create", &fence::create),
      BATON_FUNCTION("fence.signal", &fence::signal),
      BATON_FUNCTION("fence.fail", &fence::fail),
      BATON_FUNCTION("fence.join", &fence::join),
      BATON_FUNCTION("fence.await", &fence::await),
      BATON_FUNCTION("fence.check", &fence::check),

      BATON_FUNCTION("executable.create", &executable::create),
      BATON_FUNCTION("executable.create_with_entry_points", &executable::create_with_entry_points),
      BATON_FUNCTION("executable.create_with_launch_attributes", &executable::create_with_launch_attributes),
      BATON_FUNCTION("executable.create_specialized", &executable::create_specialized),
      BATON_FUNCTION("executable.lookup", &HalModule::lookup),
      BATON_FUNCTION("executable.lookup_with_entry_points", &HalModule::lookup_with_entry_points),
      BATON_FUNCTION("executable.entry_point", &executable::entry_point),
      BATON_FUNCTION("executable.variant", &executable::variant),

      BATON_FUNCTION("command_buffer.create", &command_buffer::create),
      BATON_FUNCTION("command_buffer.fill_buffer", &command_buffer::fill_buffer),
      BATON_FUNCTION("command_buffer.update_buffer", &command_buffer::update_buffer),
      BATON_FUNCTION("command_buffer.copy_buffer", &command_buffer::copy_buffer),
      BATON_FUNCTION("command_buffer.dispatch", &command_buffer::dispatch),
      BATON_FUNCTION("command_buffer.dispatch_indirect", &command_buffer::dispatch_indirect),
      BATON_FUNCTION("command_buffer.dispatch_with_slots", &command_buffer::dispatch_with_slots),
      BATON_FUNCTION("command_buffer.dispatch_indirect_with_slots", &command_buffer::dispatch_indirect_with_slots),
      BATON_FUNCTION("command_buffer.barrier", &command_buffer::barrier),
      BATON_FUNCTION("command_buffer.finish", &command_buffer::finish),
  };
  return make_shared_module<HalModule>("hal", exported, std::move(options));
}

}  // namespace baton::modules
