// An app links a kernel from parts: nvjitlink caller.ptx function.ptx [--device=cuda]. A part may be PTX, a
// cubin, an object, an archive or LTO-IR. nvJitLink comes with the CUDA toolkit or with pip.
#include "samples/kernels/vectors.hpp"

using namespace vectors;

static Result<std::vector<std::byte>> read(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) return failure(StatusCode::kNotFound, "There is no '", path, "'.");
  std::vector<std::byte> bytes(1 << 20);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  return bytes;
}

static Status run(const char* first, const char* second, const std::string& uri) {
  BATON_ASSIGN_OR_RETURN(const Ref<Device> device, open(uri));
  Order order(*device);
  BATON_ASSIGN_OR_RETURN(const std::vector<std::byte> caller, read(first));
  BATON_ASSIGN_OR_RETURN(const std::vector<std::byte> function, read(second));
  const ExecutableVariant parts[] = {{"caller.ptx", caller}, {"function.ptx", function}};
  BATON_ASSIGN_OR_RETURN(const int64_t architecture, device->query("hal.device", "architecture"));
  BATON_ASSIGN_OR_RETURN(const KernelLibrary library,
                         KernelLibrary::link("parts", std::to_string(architecture), parts));
  BATON_ASSIGN_OR_RETURN(const Ref<BufferView> x, upload(*device, {1, 2, 3, 4, 5, 6, 7, 8}));
  BATON_ASSIGN_OR_RETURN(const LaunchTarget turn, order.next());
  BATON_OR_RETURN(library["apply"].launch({2}, {4}, turn, x, int32_t{8}));
  return print("x * x + 1", order, x);
}

int main(int argc, char** argv) { return argc < 3 ? 1 : finish(run(argv[1], argv[2], device_of(argc, argv))); }
