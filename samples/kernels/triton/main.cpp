// An app launches a kernel of Triton's, from what its compiler wrote: triton kernel.json kernel.cubin [--device=cuda].
#include "samples/kernels/vectors.hpp"

using namespace vectors;

static Status run(const char* metadata, const char* cubin, const std::string& uri) {
  BATON_ASSIGN_OR_RETURN(const Ref<Device> device, open(uri));
  Order order(*device);
  BATON_ASSIGN_OR_RETURN(const KernelLibrary library, KernelLibrary::load_triton(metadata, cubin));
  BATON_ASSIGN_OR_RETURN(const Ref<BufferView> x, upload(*device, {1, 2, 3, 4, 5, 6, 7, 8}));
  BATON_ASSIGN_OR_RETURN(const Ref<BufferView> y, upload(*device, std::vector<float>(8, 100)));
  // A grid of programs and the kernel's own arguments: workgroup, shared memory and hidden pointers are known.
  BATON_ASSIGN_OR_RETURN(const LaunchTarget turn, order.next());
  BATON_OR_RETURN(library["scale_add"].launch({1}, {}, turn, x, y, 2.0f, int32_t{8}));
  return print("2 * x + 100", order, y);
}

int main(int argc, char** argv) { return argc < 3 ? 1 : finish(run(argv[1], argv[2], device_of(argc, argv))); }
