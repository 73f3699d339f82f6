// An app launches a kernel from a file: launch <kernels> [--device=uri]. The file is a portable ELF for the CPU, or PTX,
// a cubin or a fatbin for GPUs.
#include "samples/kernels/vectors.hpp"

using namespace vectors;

static Status run(const char* file, const std::string& uri) {
  BATON_ASSIGN_OR_RETURN(const Ref<Device> device, open(uri));
  Order order(*device);
  BATON_ASSIGN_OR_RETURN(const KernelLibrary library, KernelLibrary::load_file(file));
  BATON_ASSIGN_OR_RETURN(const Ref<BufferView> x, upload(*device, {1, 2, 3, 4, 5, 6, 7, 8}));
  BATON_ASSIGN_OR_RETURN(const Ref<BufferView> y, upload(*device, std::vector<float>(8, 100)));

  // Two workgroups of 4; arguments in the kernel's own order, compared with what the code says. A stream of CUDA's may
  // stand in the place of the device.
  BATON_ASSIGN_OR_RETURN(const LaunchTarget turn, order.next());
  BATON_OR_RETURN(library["scale_add"].launch({2}, {4}, turn, x, y, 2.0f, int32_t{8}));
  BATON_OR_RETURN(print("2 * x + 100", order, y));

  const Status missing = library["scale_ad"].launch({2}, {4}, device, x, y, 2.0f, int32_t{8});
  std::printf("%.*s\n", static_cast<int>(missing.message().size()), missing.message().data());
  return {};
}

int main(int argc, char** argv) { return argc < 2 ? 1 : finish(run(argv[1], device_of(argc, argv))); }
