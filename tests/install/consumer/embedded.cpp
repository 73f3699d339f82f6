// An app with a kernel that baton_embed_kernels() put into it: the same from C++ and, in embedded_in_c.c, from C.
#include <cstdio>
#include <string_view>

#include "modules/sdk/embed_device.h"
#include "modules/sdk/embed_kernels.hpp"
#include "numbers_kernels.h"

extern "C" int triple_in_c(baton_device* device, baton_buffer* numbers);

namespace {

using namespace baton::sdk;

Status run(const Device& device, int32_t (&numbers)[3]) {
  const int64_t shape[] = {3};
  baton_buffer_view* made = nullptr;
  BATON_OR_RETURN(Status::adopt(
      baton_buffer_view_upload(device.handle(), BATON_ELEMENT_I32, shape, 1, numbers, sizeof(numbers), &made)));
  const auto view = Ref<BufferView>::adopt(reinterpret_cast<BufferView*>(made));
  for (int i = 0; i < 2; ++i) {
    BATON_OR_RETURN(BATON_EMBEDDED_KERNEL(numbers, "triple").launch({3}, {1}, device, view));
  }
  if (triple_in_c(device.handle(), view->buffer()->handle()) != 0) return Status(StatusCode::kInternal, "C failed.");
  const Status missing = BATON_EMBEDDED_KERNELS(numbers)["tripel"].launch({3}, {1}, device, view);
  std::printf("%.*s\n", static_cast<int>(missing.message().size()), missing.message().data());
  return Status::adopt(baton_buffer_view_download(made, numbers, sizeof(numbers)));
}

int tell_formats() {
  const baton_embedded_kernels& numbers = BATON_EMBEDDED_LIBRARY(numbers);
  for (uint32_t i = 0; i < numbers.variant_count; ++i) {
    std::printf("%.*s\n", static_cast<int>(numbers.variants[i].format.size), numbers.variants[i].format.data);
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::string_view(arguments[1]) == "formats") return tell_formats();
  baton_device* opened = nullptr;
  Status status = Status::adopt(baton_device_open(count > 1 ? arguments[1] : "local-sync", &opened));
  int32_t numbers[] = {1, 2, 3};
  if (status.ok()) status = run(*Ref<Device>::adopt(reinterpret_cast<Device*>(opened)), numbers);
  if (!status.ok()) std::printf("%.*s\n", static_cast<int>(status.message().size()), status.message().data());
  std::printf("27 times: %d %d %d\n", numbers[0], numbers[1], numbers[2]);
  return status.ok() ? 0 : 1;
}
