// What a program says of a convolution, or of one of its gradients: an image x, a filter w and what they give, y, by sizes and strides in
// elements. The numbers come from a program, so they are looked at before they are used.
#pragma once

#include <array>
#include <climits>
#include <cstdint>
#include <string>

#include "modules/sdk/module.hpp"

namespace baton::libraries {

struct Convolution {
  static constexpr size_t kSpatial = 3, kNumbers = 4 + 6 * kSpatial + 3 * (2 + kSpatial);

  // Along one dimension of the images; one that there is not has an image, a window and a result of 1.
  struct Along {
    int64_t image = 1, window = 1, result = 1, step = 1, dilation = 1, before = 0;

    int64_t reach() const { return (window - 1) * dilation + 1; }
    // Zeros behind the image, as many as the last window reads.
    int64_t after() const {
      const int64_t more = (result - 1) * step + reach() - image - before;
      return more > 0 ? more : 0;
    }
  };
  // Of images or channels of results, of channels, then along the dimensions.
  using Sizes = std::array<int64_t, 2 + kSpatial>;
  using Strides = Sizes;

  int64_t groups = 1, images = 1, inputs = 1, outputs = 1;  // Channels of a group.
  std::array<Along, kSpatial> along = {};
  Strides x = {}, w = {}, y = {};

  // In the order of README.md.
  static sdk::Result<Convolution> make(const sdk::Variadic<int64_t>& numbers) {
    if (numbers.size() != kNumbers) {
      return sdk::failure(sdk::StatusCode::kInvalidArgument, "A convolution is told by ", kNumbers, " numbers, not ",
                          numbers.size(), ".");
    }
    constexpr int64_t kMost = int64_t{1} << 31;
    for (size_t i = 0; i < kNumbers; ++i) {
      if (numbers[i] >= 0 && numbers[i] < kMost) continue;
      return sdk::failure(sdk::StatusCode::kOutOfRange, "Number ", i, " of a convolution is ", numbers[i],
                          "; from 0 to ", kMost - 1, " is possible.");
    }
    size_t next = 0;
    Convolution made;
    for (int64_t* each : {&made.groups, &made.images, &made.inputs, &made.outputs}) *each = numbers[next++];
    for (Along& each : made.along) {
      for (int64_t* number : {&each.image, &each.window, &each.result, &each.step, &each.dilation, &each.before}) {
        *number = numbers[next++];
      }
    }
    for (Strides* each : {&made.x, &made.w, &made.y}) {
      for (int64_t& stride : *each) stride = numbers[next++];
    }
    BATON_OR_RETURN(made.check_sizes());
    return made;
  }

  Sizes x_sizes() const { return sizes(images, groups * inputs, &Along::image); }
  Sizes w_sizes() const { return sizes(groups * outputs, inputs, &Along::window); }
  Sizes y_sizes() const { return sizes(images, groups * outputs, &Along::result); }

  // Elements that a tensor must have. Each size and stride is below 2^31.
  static uint64_t extent(const Sizes& sizes, const Strides& strides) {
    uint64_t reached = 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
      reached += static_cast<uint64_t>(sizes[i] - 1) * static_cast<uint64_t>(strides[i]);
    }
    return reached;
  }

  // How tensors lie without gaps: images and channels outside, or channels innermost.
  enum class Order { kChannelsFirst, kChannelsLast };
  static Strides packed(const Sizes& sizes, Order order) {
    Strides made = {};
    int64_t inner = 1;
    const auto place = [&](size_t dimension) {
      made[dimension] = inner;
      inner *= sizes[dimension];
    };
    if (order == Order::kChannelsLast) place(1);
    for (size_t d = sizes.size(); d-- > 2;) place(d);
    if (order == Order::kChannelsFirst) place(1);
    place(0);
    return made;
  }
  // Strides that no step takes say nothing.
  static bool lies(const Sizes& sizes, const Strides& strides, const Strides& wanted) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] != 1 && strides[i] != wanted[i]) return false;
    }
    return true;
  }
  // Of images and results, which lie in the same.
  sdk::Result<Order> order() const {
    for (const Order each : {Order::kChannelsLast, Order::kChannelsFirst}) {
      if (lies(x_sizes(), x, packed(x_sizes(), each)) && lies(y_sizes(), y, packed(y_sizes(), each))) return each;
    }
    return sdk::failure(sdk::StatusCode::kInvalidArgument,
                        "The images and results of a convolution have gaps, or neither ",
                        "their channels outside nor inside.");
  }

  std::string describe() const {
    std::string image, window;
    for (const Along& each : along) {
      if (each.image == 1 && each.window == 1 && image.empty()) continue;
      image += (image.empty() ? "" : "x") + std::to_string(each.image);
      window += (window.empty() ? "" : "x") + std::to_string(each.window);
    }
    return std::to_string(images) + "x" + image + " by " + window + ", " + std::to_string(groups * inputs) + " to " +
           std::to_string(groups * outputs) + " channels";
  }

 private:
  Sizes sizes(int64_t first, int64_t second, int64_t Along::*of) const {
    return {first, second, along[0].*of, along[1].*of, along[2].*of};
  }

  sdk::Status check_sizes() const {
    bool is_whole = groups > 0 && images > 0 && inputs > 0 && outputs > 0;
    for (const Along& each : along) {
      is_whole = is_whole && each.image > 0 && each.window > 0 && each.result > 0 && each.step > 0 && each.dilation > 0;
    }
    if (!is_whole) {
      return sdk::failure(sdk::StatusCode::kInvalidArgument, "A convolution has a size or a step of 0.");
    }
    if (groups * inputs > INT_MAX || groups * outputs > INT_MAX) {
      return sdk::failure(sdk::StatusCode::kOutOfRange, "A convolution has more channels than ", INT_MAX, ".");
    }
    for (const Along& each : along) {
      const int64_t results = (each.image + each.before + each.after() - each.reach()) / each.step + 1;
      if (each.before < each.reach() && each.after() < each.reach() && results == each.result) continue;
      return sdk::failure(sdk::StatusCode::kInvalidArgument, "Windows of ", each.window, " in steps of ", each.step,
                          " over ", each.image, " elements with ", each.before, " zeros before them don't give ",
                          each.result, " results.");
    }
    return {};
  }
};

}  // namespace baton::libraries
