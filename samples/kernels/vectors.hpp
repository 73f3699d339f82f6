// What the samples of this folder share: the device that --device= names, and vectors on it.
#pragma once

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "modules/sdk/embed_device.h"
#include "modules/sdk/embed_kernels.hpp"

namespace vectors {

using namespace baton::sdk;

// The value behind "--device=", or the host.
inline std::string device_of(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--device=", 9) == 0) return argv[i] + 9;
  }
  return "local-sync";
}

inline Result<Ref<Device>> open(const std::string& uri) {
  baton_device* opened = nullptr;
  BATON_OR_RETURN(Status::adopt(baton_device_open(uri.c_str(), &opened)));
  return Ref<Device>::adopt(reinterpret_cast<Device*>(opened));
}

inline Result<Ref<BufferView>> upload(const Device& device, const std::vector<float>& elements) {
  const int64_t shape[] = {static_cast<int64_t>(elements.size())};
  baton_buffer_view* made = nullptr;
  BATON_OR_RETURN(Status::adopt(baton_buffer_view_upload(device.handle(), BATON_ELEMENT_F32, shape, 1, elements.data(),
                                                         elements.size() * sizeof(float), &made)));
  return Ref<BufferView>::adopt(reinterpret_cast<BufferView*>(made));
}

// A device's queue orders nothing by itself: each launch waits for the fence of the one before and signals its own.
class Order {
 public:
  explicit Order(const Device& device) : device_(device) {}

  Result<LaunchTarget> next() {
    before_ = std::move(last_);
    BATON_ASSIGN_OR_RETURN(last_, device_.make_fence());
    return LaunchTarget(device_, before_.get(), last_.get());
  }
  Status wait() const { return last_ ? last_->wait() : Status(); }

 private:
  const Device& device_;
  Ref<Fence> before_, last_;
};

// What a vector holds when that is done.
inline Status print(const char* what, const Order& order, const Ref<BufferView>& vector) {
  BATON_OR_RETURN(order.wait());
  std::vector<float> elements(static_cast<size_t>(vector->shape()[0]));
  BATON_OR_RETURN(
      Status::adopt(baton_buffer_view_download(vector->handle(), elements.data(), elements.size() * sizeof(float))));
  std::printf("%s:", what);
  for (const float element : elements) std::printf(" %g", static_cast<double>(element));
  std::printf("\n");
  return {};
}

// The exit code of an app whose work is done.
inline int finish(const Status& status) {
  if (status.ok()) return 0;
  std::printf("%.*s\n", static_cast<int>(status.message().size()), status.message().data());
  return 1;
}

}  // namespace vectors
