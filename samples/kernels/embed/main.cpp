// An app with its kernels inside, put there by one line of CMake: embed [--device=uri].
#include "samples/kernels/vectors.hpp"
#include "vectors_kernels.h"

using namespace vectors;

static Status run(const std::string& uri) {
  BATON_ASSIGN_OR_RETURN(const Ref<Device> device, open(uri));
  Order order(*device);
  BATON_ASSIGN_OR_RETURN(const Ref<BufferView> x, upload(*device, {1, 2, 3, 4, 5, 6, 7, 8}));
  BATON_ASSIGN_OR_RETURN(const Ref<BufferView> y, upload(*device, std::vector<float>(8, 100)));
  // Looked for once: from then on the kernel costs one load.
  for (int i = 0; i < 3; ++i) {
    BATON_ASSIGN_OR_RETURN(const LaunchTarget turn, order.next());
    BATON_OR_RETURN(BATON_EMBEDDED_KERNEL(vectors, "scale_add").launch({2}, {4}, turn, x, y, 1.0f, int32_t{8}));
  }
  return print("3 * x + 100", order, y);
}

int main(int argc, char** argv) { return finish(run(device_of(argc, argv))); }
