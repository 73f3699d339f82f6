// Two tensors element by element: where they first differ, and how often.
#pragma once

#include <span>
#include <string>

#include "hal/buffer_view.hpp"
#include "hal/device.hpp"

namespace baton::modules {

// |a - b| <= atol + rtol * |b|. NaN equals NaN, an infinity itself.
struct Tolerance {
  double atol = 0;
  double rtol = 0;
};

bool is_near(double given, double expected, const Tolerance& tolerance);

// Dense elements on the host.
struct TensorBytes {
  std::span<const int64_t> shape;
  hal::ElementType element_type;
  std::span<const std::byte> bytes;
};

Status expect_equal(const TensorBytes& given, const TensorBytes& expected, const Tolerance& tolerance = {});
// Ok when every element of `given` is that of `expected`, bit for bit but for floats: 0 and -0 are equal, and NaN is
// equal to NaN. `device` reads memory that the host does not see; may be null.
Status expect_equal(hal::Device* device, const hal::BufferView& given, const hal::BufferView& expected,
                    const Tolerance& tolerance = {});
// Ok when no element is 0.
Status expect_all_true(hal::Device* device, const hal::BufferView& given);

}  // namespace baton::modules
