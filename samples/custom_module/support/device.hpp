// A local device, and the module "hal" on it: programs find the kernel of square.h under the name "square".
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "hal/allocator.hpp"
#include "hal/buffer_view.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/executable_registry.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "square.h"

inline baton::Result<baton::Ref<baton::hal::Device>> open_device(std::string_view name) {
  using namespace baton;
  hal::drivers::DriverOptions options;
  options.local.libraries.push_back({"square", square_library_query});
  hal::DriverRegistry drivers;
  BATON_TRY(hal::drivers::register_drivers(drivers, std::move(options)));
  return drivers.open(name);
}

inline baton::Result<baton::Ref<const baton::vm::Module>> make_hal(const baton::Ref<baton::hal::Device>& device) {
  using namespace baton;
  constexpr std::string_view kLibrary = "square";
  auto executables = std::make_shared<hal::ExecutableRegistry>();
  BATON_TRY(executables->add("square", "static-library", std::as_bytes(std::span(kLibrary))));
  return modules::make_hal_module({.devices = {device}, .executables = std::move(executables)});
}

// 5xi32=1 2 3 4 5
inline baton::Result<baton::Ref<baton::hal::BufferView>> make_input(baton::hal::Device& device) {
  using namespace baton;
  const int64_t shape[] = {5};
  BATON_TRY_ASSIGN(Ref<hal::Buffer> buffer, device.allocator().allocate({.length = 5 * sizeof(int32_t)}));
  {
    BATON_TRY_ASSIGN(const hal::Mapping mapping, buffer->map(hal::Access::kDiscardWrite));
    for (int32_t i = 0; i < 5; ++i) mapping.as<int32_t>()[static_cast<size_t>(i)] = i + 1;
  }
  return hal::BufferView::make(std::move(buffer), shape, hal::ElementType::kI32);
}

// Whether `view` is (2 x^2)^2 of make_input's x; otherwise says what differs.
inline baton::Status check_output(const baton::hal::BufferView& view) {
  using namespace baton;
  BATON_TRY_ASSIGN(const hal::Mapping mapping, view.buffer()->map(hal::Access::kRead));
  for (int32_t x = 1; x <= 5; ++x) {
    const int32_t expected = 4 * x * x * x * x, given = mapping.as<int32_t>()[static_cast<size_t>(x - 1)];
    if (given != expected) {
      return failure(StatusCode::kInternal, "Element ", x - 1, " of the result is ", given, ", not ", expected, ".");
    }
  }
  return {};
}
