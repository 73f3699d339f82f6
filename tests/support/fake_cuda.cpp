#include "tests/support/fake_cuda.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "hal/drivers/cuda/symbols.hpp"

namespace baton::testing_support {
namespace {

std::recursive_mutex mutex;  // Of everything below; host functions may be called under it.
std::unique_ptr<FakeCuda> fake;
thread_local std::vector<CUcontext> contexts;

struct Node {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  size_t dependency_count = 0;
  const FakeKernel* kernel = nullptr;
  FakeLaunch launch{};
  std::vector<std::byte> parameters;
  bool in_block = false;  // How they came.
  CUDA_MEMCPY3D copy{};
  CUDA_MEMSET_NODE_PARAMS fill{};
  CUDA_HOST_NODE_PARAMS host{};
  std::shared_ptr<struct Graph> child;
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};
struct Instance {
  std::map<Node*, Node> nodes;
  std::vector<Node*> order;
};
struct Stream {
  int device = 0;  // Of the context it was made in.
  Graph* capture = nullptr;
  std::vector<CUgraphNode> tails;  // What is captured next depends on these.
  bool broken = false;
  bool blocking = false;  // It takes notice of the legacy stream.
};
struct Library {
  std::vector<const FakeKernel*> kernels;
};

template <typename T, typename Handle>
T* as(Handle handle) {
  return reinterpret_cast<T*>(handle);
}

// Device memory: whose it is. Host memory is not in it.
struct Allocation {
  size_t bytes;
  int device;
};
std::vector<Stream*> streams;
std::map<CUdeviceptr, Allocation> allocations;

int context_device(CUcontext context) { return static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1; }

// -1: it is no device's memory.
int device_of(CUdeviceptr address) {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) return -1;
  --after;
  return address < after->first + after->second.bytes ? after->second.device : -1;
}

bool is_open(int owner, int accessor) {
  const auto& opened = fake->opened;
  return owner < 0 || owner == accessor ||
         std::find(opened.begin(), opened.end(), std::pair(owner, accessor)) != opened.end();
}

// A copy on `device` touches no memory that was not opened to it.
CUresult check_copy(int device, CUdeviceptr target, CUdeviceptr source) {
  return is_open(device_of(target), device) && is_open(device_of(source), device) ? CUDA_SUCCESS
                                                                                  : CUDA_ERROR_INVALID_VALUE;
}

// Writes the line; the failure that a test ordered, if it is this entry's turn.
template <typename... Parts>
CUresult log(const char* entry, const Parts&... parts) {
  fake->log.push_back(text(entry, parts...));
  if (fake->failing_entry != entry) return CUDA_SUCCESS;
  fake->failing_entry.clear();
  return fake->failing_result;
}

#define FAKE_LOCK std::lock_guard lock(mutex)
#define FAKE_LOG(...) \
  if (const CUresult result = log(__VA_ARGS__); result != CUDA_SUCCESS) return result

void run_copy(void* target, const void* source, size_t bytes) { std::memmove(target, source, bytes); }

void run_fill(const CUDA_MEMSET_NODE_PARAMS& fill) {
  auto* target = reinterpret_cast<std::byte*>(fill.dst);
  for (size_t i = 0; i < fill.width; ++i) std::memcpy(target + i * fill.elementSize, &fill.value, fill.elementSize);
}

void run_node(const Node& node) {
  switch (node.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return node.kernel->run({{node.launch.grid[0], node.launch.grid[1], node.launch.grid[2]},
                               {node.launch.block[0], node.launch.block[1], node.launch.block[2]},
                               node.parameters.data()});
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return run_copy(reinterpret_cast<void*>(node.copy.dstDevice), reinterpret_cast<void*>(node.copy.srcDevice),
                      node.copy.WidthInBytes);
    case CU_GRAPH_NODE_TYPE_MEMSET: return run_fill(node.fill);
    case CU_GRAPH_NODE_TYPE_HOST: return node.host.fn(node.host.userData);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      for (const auto& child : node.child->nodes) run_node(*child);
      return;
    default: return;
  }
}

// 0, 1 and 2 are the streams that every context has.
bool is_everyones(CUstream handle) { return reinterpret_cast<uintptr_t>(handle) <= 2; }

// What is enqueued runs at once, or becomes a node of the capture.
void enqueue(CUstream handle, Node node) {
  static Stream everyones;
  auto* stream = is_everyones(handle) ? &everyones : as<Stream>(handle);
  if (!stream->capture) return run_node(node);
  node.dependency_count = stream->tails.size();
  stream->capture->nodes.push_back(std::make_unique<Node>(std::move(node)));
  stream->tails = {reinterpret_cast<CUgraphNode>(stream->capture->nodes.back().get())};
}

size_t parameter_size(const FakeKernel& kernel, std::vector<size_t>& offsets) {
  size_t at = 0;
  for (const size_t bytes : kernel.parameter_bytes) {
    at = align_up(at, bytes);
    offsets.push_back(at);
    at += bytes;
  }
  return at;
}

std::vector<std::byte> pack(const FakeKernel& kernel, void** pointers, void** extra) {
  std::vector<size_t> offsets;
  std::vector<std::byte> bytes(parameter_size(kernel, offsets));
  if (extra) {
    if (!bytes.empty()) std::memcpy(bytes.data(), extra[1], std::min(bytes.size(), *static_cast<size_t*>(extra[3])));
  } else {
    for (size_t i = 0; i < offsets.size(); ++i) {
      std::memcpy(bytes.data() + offsets[i], pointers[i], kernel.parameter_bytes[i]);
    }
  }
  return bytes;
}

Node kernel_node(const CUDA_KERNEL_NODE_PARAMS& p) {
  Node node;
  node.type = CU_GRAPH_NODE_TYPE_KERNEL;
  node.kernel = as<const FakeKernel>(p.kern ? reinterpret_cast<void*>(p.kern) : reinterpret_cast<void*>(p.func));
  node.launch = {{p.gridDimX, p.gridDimY, p.gridDimZ}, {p.blockDimX, p.blockDimY, p.blockDimZ}, nullptr};
  node.parameters = pack(*node.kernel, p.kernelParams, p.extra);
  node.in_block = p.extra != nullptr;
  return node;
}

CUresult add_node(CUgraphNode* out, CUgraph graph, size_t dependency_count, Node node) {
  node.dependency_count = dependency_count;
  as<Graph>(graph)->nodes.push_back(std::make_unique<Node>(std::move(node)));
  *out = reinterpret_cast<CUgraphNode>(as<Graph>(graph)->nodes.back().get());
  if (fake->node_added) fake->node_added();
  return CUDA_SUCCESS;
}

Node& node_of(CUgraphExec instance, CUgraphNode node) { return as<Instance>(instance)->nodes.at(as<Node>(node)); }

// Start, devices, contexts
CUresult init(unsigned) { return fake->init_result; }
CUresult driver_version(int* version) {
  *version = fake->driver_version;
  return CUDA_SUCCESS;
}
CUresult error_name(CUresult result, const char** name) {
  *name = result == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
  return CUDA_SUCCESS;
}
CUresult error_string(CUresult, const char** meaning) {
  *meaning = "a test ordered it";
  return CUDA_SUCCESS;
}
CUresult device_count(int* count) {
  *count = fake->device_count;
  return CUDA_SUCCESS;
}
CUresult device_get(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal < fake->device_count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult device_name(char* name, int length, CUdevice device) {
  std::snprintf(name, static_cast<size_t>(length), "Fake GPU %d", device);
  return CUDA_SUCCESS;
}
CUresult device_uuid(CUuuid* uuid, CUdevice device) {
  for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(16 * device + i);
  return CUDA_SUCCESS;
}
CUresult device_memory(size_t* bytes, CUdevice) {
  *bytes = fake->memory_bytes;
  return CUDA_SUCCESS;
}
CUresult device_attribute(int* value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = 0x7fffffff; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: *value = 0xffff; break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: *value = 1; break;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: *value = fake->new_launches; break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 4; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 227 * 1024; break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *value = 1'500'000; break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: *value = fake->memory_clock_khz; break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: *value = 5120; break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *value = 64; break;
    default: *value = 1024;
  }
  return CUDA_SUCCESS;
}
CUresult retain_context(CUcontext* context, CUdevice device) {
  *context = reinterpret_cast<CUcontext>(static_cast<uintptr_t>(device + 1));
  return CUDA_SUCCESS;
}
CUresult release_context(CUdevice) { return CUDA_SUCCESS; }
CUresult get_current(CUcontext* context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return CUDA_SUCCESS;
}
CUresult push_current(CUcontext context) {
  contexts.push_back(context);
  return CUDA_SUCCESS;
}
CUresult pop_current(CUcontext* context) {
  *context = contexts.back();
  contexts.pop_back();
  return CUDA_SUCCESS;
}

CUresult priority_range(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult current_device(CUdevice* device) {
  *device = context_device(contexts.back());
  return CUDA_SUCCESS;
}
CUresult synchronize_context() {
  FAKE_LOCK;
  FAKE_LOG("cuCtxSynchronize ", context_device(contexts.back()));
  return CUDA_SUCCESS;
}

CUresult can_access_peer(int* can, CUdevice device, CUdevice peer) {
  *can = fake->peer_access && device != peer;
  return CUDA_SUCCESS;
}
CUresult enable_peer_access(CUcontext peer, unsigned) {
  FAKE_LOCK;
  FAKE_LOG("cuCtxEnablePeerAccess", " ", context_device(contexts.back()), " to ", context_device(peer));
  return CUDA_SUCCESS;
}

// Memory
CUresult memory_info(size_t* free_bytes, size_t* total) {
  *free_bytes = *total = fake->memory_bytes;
  return CUDA_SUCCESS;
}
CUresult pool_create(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  *pool = reinterpret_cast<CUmemoryPool>(static_cast<uintptr_t>(properties->location.id + 1));
  return CUDA_SUCCESS;
}
int pool_device(CUmemoryPool pool) { return static_cast<int>(reinterpret_cast<uintptr_t>(pool)) - 1; }
CUresult pool_destroy(CUmemoryPool) { return CUDA_SUCCESS; }
CUresult pool_set(CUmemoryPool, CUmemPool_attribute, void*) { return CUDA_SUCCESS; }
CUresult pool_open(CUmemoryPool pool, const CUmemAccessDesc* accesses, size_t count) {
  FAKE_LOCK;
  FAKE_LOG("cuMemPoolSetAccess", " ", pool_device(pool), " to ", accesses[0].location.id);
  for (size_t i = 0; i < count; ++i) fake->opened.emplace_back(pool_device(pool), accesses[i].location.id);
  return CUDA_SUCCESS;
}
CUresult pool_trim(CUmemoryPool, size_t) {
  FAKE_LOCK;
  FAKE_LOG("cuMemPoolTrimTo");
  return CUDA_SUCCESS;
}
CUresult allocate(CUdeviceptr* address, size_t bytes, CUmemoryPool pool, CUstream) {
  FAKE_LOCK;
  FAKE_LOG("cuMemAllocFromPoolAsync", " ", bytes);
  if (bytes > fake->memory_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(512, align_up(bytes, 512)));
  allocations[*address] = {bytes, pool_device(pool)};
  return CUDA_SUCCESS;
}
CUresult allocate_now(CUdeviceptr* address, size_t bytes) {
  FAKE_LOCK;
  FAKE_LOG("cuMemAlloc", " ", bytes);
  if (bytes > fake->memory_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(512, align_up(bytes, 512)));
  allocations[*address] = {bytes, context_device(contexts.back())};
  return CUDA_SUCCESS;
}
// A handle is the address: it opens in the process that has the memory.
CUresult get_handle(CUipcMemHandle* handle, CUdeviceptr address) {
  FAKE_LOCK;
  FAKE_LOG("cuIpcGetMemHandle");
  if (!fake->opens_memory) return CUDA_ERROR_NOT_SUPPORTED;
  std::memcpy(handle, &address, sizeof(address));
  return CUDA_SUCCESS;
}
CUresult open_handle(CUdeviceptr* address, CUipcMemHandle handle, unsigned) {
  FAKE_LOCK;
  FAKE_LOG("cuIpcOpenMemHandle");
  std::memcpy(address, &handle, sizeof(*address));
  return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult close_handle(CUdeviceptr) {
  FAKE_LOCK;
  FAKE_LOG("cuIpcCloseMemHandle");
  return CUDA_SUCCESS;
}
CUresult allocate_anywhere(CUdeviceptr* address, size_t bytes, CUstream) {
  FAKE_LOCK;
  FAKE_LOG("cuMemAllocAsync", " ", bytes);
  if (bytes > fake->memory_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(512, align_up(bytes, 512)));
  allocations[*address] = {bytes, 0};
  return CUDA_SUCCESS;
}
CUresult release(CUdeviceptr address, CUstream) {
  FAKE_LOCK;
  FAKE_LOG("cuMemFreeAsync");
  allocations.erase(address);
  std::free(reinterpret_cast<void*>(address));
  return CUDA_SUCCESS;
}
CUresult release_now(CUdeviceptr address) {
  FAKE_LOCK;
  FAKE_LOG("cuMemFree");
  allocations.erase(address);
  std::free(reinterpret_cast<void*>(address));
  return CUDA_SUCCESS;
}
CUresult allocate_pinned(void** memory, size_t bytes, unsigned) {
  FAKE_LOCK;
  FAKE_LOG("cuMemHostAlloc", " ", bytes);
  *memory = std::aligned_alloc(512, align_up(bytes, 512));
  return CUDA_SUCCESS;
}
CUresult release_pinned(void* memory) {
  std::free(memory);
  return CUDA_SUCCESS;
}
CUresult pin(void*, size_t bytes, unsigned) {
  FAKE_LOCK;
  FAKE_LOG("cuMemHostRegister", " ", bytes);
  return fake_cuda().pins ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult unpin(void*) {
  FAKE_LOCK;
  FAKE_LOG("cuMemHostUnregister");
  return CUDA_SUCCESS;
}
CUresult pinned_address(CUdeviceptr* address, void* memory, unsigned) {
  *address = reinterpret_cast<CUdeviceptr>(memory);
  return CUDA_SUCCESS;
}
CUresult pointer_attribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  FAKE_LOCK;
  if (address < 4096) return CUDA_ERROR_INVALID_VALUE;
  const bool managed = attribute == CU_POINTER_ATTRIBUTE_IS_MANAGED;
  *static_cast<int*>(value) = managed ? address == fake->managed_address : std::max(device_of(address), 0);
  return CUDA_SUCCESS;
}
CUresult copy(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  FAKE_LOCK;
  FAKE_LOG("cuMemcpyAsync", " ", bytes);
  if (const CUresult result = check_copy(as<Stream>(stream)->device, target, source); result != CUDA_SUCCESS)
    return result;
  Node node;
  node.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  node.copy.dstDevice = target;
  node.copy.srcDevice = source;
  node.copy.WidthInBytes = bytes;
  enqueue(stream, std::move(node));
  return CUDA_SUCCESS;
}
// Whether there was one.
bool break_blocking_captures() {
  bool found = false;
  for (Stream* stream : streams) {
    if (!stream->blocking || !stream->capture) continue;
    stream->broken = true;
    found = true;
  }
  return found;
}

CUresult fill(const char* entry, CUdeviceptr target, unsigned value, unsigned bytes, size_t count, CUstream stream) {
  FAKE_LOCK;
  FAKE_LOG(entry, " ", count);
  Node node;
  node.type = CU_GRAPH_NODE_TYPE_MEMSET;
  node.fill = {target, 0, value, bytes, count, 1};
  if (!stream) {  // The legacy one, on which nothing is captured.
    if (break_blocking_captures()) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    run_node(node);
    return CUDA_SUCCESS;
  }
  enqueue(stream, std::move(node));
  return CUDA_SUCCESS;
}
CUresult fill8(CUdeviceptr target, unsigned char value, size_t count, CUstream stream) {
  return fill("cuMemsetD8Async", target, value, 1, count, stream);
}
CUresult fill16(CUdeviceptr target, unsigned short value, size_t count, CUstream stream) {
  return fill("cuMemsetD16Async", target, value, 2, count, stream);
}
CUresult fill32(CUdeviceptr target, unsigned value, size_t count, CUstream stream) {
  return fill("cuMemsetD32Async", target, value, 4, count, stream);
}

// Streams and events
CUresult stream_create(CUstream* stream, unsigned flags, int) {
  FAKE_LOCK;
  auto* made =
      new Stream{.device = context_device(contexts.back()), .tails = {}, .blocking = flags == CU_STREAM_DEFAULT};
  streams.push_back(made);
  *stream = reinterpret_cast<CUstream>(made);
  return CUDA_SUCCESS;
}
CUresult stream_destroy(CUstream stream) {
  FAKE_LOCK;
  std::erase(streams, as<Stream>(stream));
  delete as<Stream>(stream);
  return CUDA_SUCCESS;
}
CUresult stream_synchronize(CUstream stream) {
  if (!as<Stream>(stream)->capture) return CUDA_SUCCESS;
  as<Stream>(stream)->broken = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}
CUresult stream_context(CUstream stream, CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(static_cast<uintptr_t>(as<Stream>(stream)->device + 1));
  return CUDA_SUCCESS;
}
// Streams of other libraries have small numbers.
std::string stream_name(CUstream stream) {
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  return handle < 4096 ? text(" on stream ", handle) : "";
}
CUresult stream_wait(CUstream stream, CUevent, unsigned) {
  FAKE_LOCK;
  FAKE_LOG("cuStreamWaitEvent", stream_name(stream));
  return CUDA_SUCCESS;
}
CUresult event_create(CUevent* event, unsigned) {
  FAKE_LOCK;
  FAKE_LOG("cuEventCreate");
  *event = reinterpret_cast<CUevent>(new char);
  return CUDA_SUCCESS;
}
CUresult event_destroy(CUevent event) {
  delete as<char>(event);
  return CUDA_SUCCESS;
}
CUresult event_record(CUevent, CUstream stream) {
  FAKE_LOCK;
  FAKE_LOG("cuEventRecord", stream_name(stream));
  return CUDA_SUCCESS;
}
CUresult event_query(CUevent) {
  FAKE_LOCK;
  FAKE_LOG("cuEventQuery");
  return fake->events_pass ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult elapsed(float* ms, CUevent, CUevent) {
  FAKE_LOCK;
  FAKE_LOG("cuEventElapsedTime");
  *ms = 0.25f;
  return CUDA_SUCCESS;
}
CUresult host_function(CUstream stream, CUhostFn function, void* data) {
  FAKE_LOCK;
  FAKE_LOG("cuLaunchHostFunc");
  Node node;
  node.type = CU_GRAPH_NODE_TYPE_HOST;
  node.host = {function, data};
  enqueue(stream, std::move(node));
  return CUDA_SUCCESS;
}
CUresult launch_kernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  FAKE_LOCK;
  CUDA_KERNEL_NODE_PARAMS p = {};
  p.func = function;
  p.gridDimX = gx, p.gridDimY = gy, p.gridDimZ = gz;
  p.blockDimX = bx, p.blockDimY = by, p.blockDimZ = bz;
  p.sharedMemBytes = shared;
  p.kernelParams = parameters;
  p.extra = extra;
  Node node = kernel_node(p);
  const std::string where = is_everyones(stream) ? text(" on device ", context_device(contexts.back())) : "";
  FAKE_LOG("cuLaunchKernel", " ", node.kernel->name, " (", gx, ", ", gy, ", ", gz, ")", where);
  if (fake->kernel_launched) fake->kernel_launched();
  enqueue(stream, std::move(node));
  return CUDA_SUCCESS;
}

std::string attribute_text(CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      return text(" cluster ", value.clusterDim.x, "x", value.clusterDim.y, "x", value.clusterDim.z);
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: return " cooperative";
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: return text(" priority ", value.priority);
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: return " early";
    default: return " unknown";
  }
}
CUresult launch_kernel_with(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  FAKE_LOCK;
  std::string line;
  for (unsigned i = 0; i < config->numAttrs; ++i) line += attribute_text(config->attrs[i].id, config->attrs[i].value);
  FAKE_LOG("cuLaunchKernelEx", line);
  return launch_kernel(function, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
                       config->blockDimY, config->blockDimZ, config->sharedMemBytes, config->hStream, parameters,
                       extra);
}

// Capture
CUresult begin_capture(CUstream stream, CUgraph graph, const CUgraphNode*, const CUgraphEdgeData*, size_t,
                       CUstreamCaptureMode) {
  FAKE_LOCK;
  FAKE_LOG("cuStreamBeginCaptureToGraph");
  as<Stream>(stream)->capture = as<Graph>(graph);
  as<Stream>(stream)->broken = false;
  as<Stream>(stream)->tails.clear();
  return CUDA_SUCCESS;
}
CUresult end_capture(CUstream stream, CUgraph* graph) {
  FAKE_LOCK;
  FAKE_LOG("cuStreamEndCapture");
  if (!as<Stream>(stream)->capture) return CUDA_ERROR_ILLEGAL_STATE;
  *graph = reinterpret_cast<CUgraph>(std::exchange(as<Stream>(stream)->capture, nullptr));
  return as<Stream>(stream)->broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}
CUresult capture_state(CUstream stream, CUstreamCaptureStatus* state, cuuint64_t*, CUgraph*, const CUgraphNode** nodes,
                       size_t* node_count) {
  const auto& one = *as<Stream>(stream);
  *state = !one.capture ? CU_STREAM_CAPTURE_STATUS_NONE
           : one.broken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                        : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (nodes) *nodes = one.tails.data();
  if (node_count) *node_count = one.tails.size();
  return CUDA_SUCCESS;
}
CUresult set_capture_dependencies(CUstream stream, CUgraphNode* nodes, size_t count, unsigned) {
  FAKE_LOCK;
  FAKE_LOG("cuStreamUpdateCaptureDependencies", " ", count);
  if (!as<Stream>(stream)->capture) return CUDA_ERROR_ILLEGAL_STATE;
  as<Stream>(stream)->tails.assign(nodes, nodes + count);
  return CUDA_SUCCESS;
}

// Graphs
CUresult graph_create(CUgraph* graph, unsigned) {
  *graph = reinterpret_cast<CUgraph>(new Graph);
  return CUDA_SUCCESS;
}
CUresult graph_destroy(CUgraph graph) {
  delete as<Graph>(graph);
  return CUDA_SUCCESS;
}
CUresult add_kernel(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t count,
                    const CUDA_KERNEL_NODE_PARAMS* parameters) {
  FAKE_LOCK;
  Node node = kernel_node(*parameters);
  FAKE_LOG("cuGraphAddKernelNode", " ", node.kernel->name, " after ", count);
  return add_node(out, graph, count, std::move(node));
}
CUresult add_copy(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t count, const CUDA_MEMCPY3D* parameters,
                  CUcontext context) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphAddMemcpyNode", " ", parameters->WidthInBytes, " after ", count);
  const CUresult result = check_copy(context_device(context), parameters->dstDevice, parameters->srcDevice);
  if (result != CUDA_SUCCESS) return result;
  Node node;
  node.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  node.copy = *parameters;
  return add_node(out, graph, count, std::move(node));
}
CUresult add_fill(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t count,
                  const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphAddMemsetNode", " ", parameters->width, " after ", count);
  Node node;
  node.type = CU_GRAPH_NODE_TYPE_MEMSET;
  node.fill = *parameters;
  return add_node(out, graph, count, std::move(node));
}
CUresult add_host(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t count,
                  const CUDA_HOST_NODE_PARAMS* parameters) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphAddHostNode", " after ", count);
  Node node;
  node.type = CU_GRAPH_NODE_TYPE_HOST;
  node.host = *parameters;
  return add_node(out, graph, count, std::move(node));
}
CUresult add_empty(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t count) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphAddEmptyNode", " after ", count);
  return add_node(out, graph, count, Node{});
}
std::shared_ptr<Graph> clone(const Graph& graph) {
  auto copy = std::make_shared<Graph>();
  for (const auto& node : graph.nodes) copy->nodes.push_back(std::make_unique<Node>(*node));
  return copy;
}
CUresult add_child(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t count, CUgraph child) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphAddChildGraphNode", " of ", as<Graph>(child)->nodes.size(), " after ", count);
  Node node;
  node.type = CU_GRAPH_NODE_TYPE_GRAPH;
  node.child = clone(*as<Graph>(child));
  return add_node(out, graph, count, std::move(node));
}
CUresult set_node_attribute(CUgraphNode node, CUlaunchAttributeID id, const CUlaunchAttributeValue* value) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphKernelNodeSetAttribute", attribute_text(id, *value));
  if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && as<Node>(node)->in_block) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}
CUresult add_edges(CUgraph, const CUgraphNode*, const CUgraphNode* to, const CUgraphEdgeData* edges, size_t count) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphAddDependencies", " ", count, " of type ", static_cast<int>(edges[0].type));
  as<Node>(*to)->dependency_count += count;
  return CUDA_SUCCESS;
}
CUresult get_nodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  const auto& all = as<Graph>(graph)->nodes;
  for (size_t i = 0; nodes && i < all.size(); ++i) nodes[i] = reinterpret_cast<CUgraphNode>(all[i].get());
  *count = all.size();
  return CUDA_SUCCESS;
}
CUresult node_type(CUgraphNode node, CUgraphNodeType* type) {
  *type = as<Node>(node)->type;
  return CUDA_SUCCESS;
}
CUresult kernel_parameters(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* parameters) {
  const auto& node = *as<Node>(handle);
  *parameters = {};
  parameters->kern = reinterpret_cast<CUkernel>(const_cast<FakeKernel*>(node.kernel));
  parameters->gridDimX = node.launch.grid[0];
  parameters->blockDimX = node.launch.block[0];
  return CUDA_SUCCESS;
}
CUresult instantiate(CUgraphExec* instance, CUgraph graph, unsigned long long) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphInstantiate", " ", as<Graph>(graph)->nodes.size());
  auto* made = new Instance;
  for (const auto& node : as<Graph>(graph)->nodes) {
    made->nodes.emplace(node.get(), *node);
    made->order.push_back(node.get());
  }
  *instance = reinterpret_cast<CUgraphExec>(made);
  return CUDA_SUCCESS;
}
CUresult instance_destroy(CUgraphExec instance) {
  delete as<Instance>(instance);
  return CUDA_SUCCESS;
}
CUresult upload(CUgraphExec, CUstream) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphUpload");
  return CUDA_SUCCESS;
}
CUresult launch_graph(CUgraphExec instance, CUstream) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphLaunch");
  for (Node* node : as<Instance>(instance)->order) run_node(as<Instance>(instance)->nodes.at(node));
  return CUDA_SUCCESS;
}
CUresult patch_kernel(CUgraphExec instance, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphExecKernelNodeSetParams");
  node_of(instance, node) = kernel_node(*parameters);
  return CUDA_SUCCESS;
}
CUresult patch_copy(CUgraphExec instance, CUgraphNode node, const CUDA_MEMCPY3D* parameters, CUcontext) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphExecMemcpyNodeSetParams");
  node_of(instance, node).copy = *parameters;
  return CUDA_SUCCESS;
}
CUresult patch_fill(CUgraphExec instance, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphExecMemsetNodeSetParams");
  node_of(instance, node).fill = *parameters;
  return CUDA_SUCCESS;
}
CUresult patch_host(CUgraphExec instance, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* parameters) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphExecHostNodeSetParams");
  node_of(instance, node).host = *parameters;
  return CUDA_SUCCESS;
}
CUresult patch_child(CUgraphExec instance, CUgraphNode node, CUgraph child) {
  FAKE_LOCK;
  FAKE_LOG("cuGraphExecChildGraphNodeSetParams");
  node_of(instance, node).child = clone(*as<Graph>(child));
  return CUDA_SUCCESS;
}

// Code: kernels that are asked for by name in the "PTX".
const FakeKernel* nothing_kernel() {
  static const FakeKernel kernel = {"baton_nothing", {}, [](const FakeLaunch&) {}};
  return &kernel;
}
const FakeKernel* wide_fill_kernel() {
  static const FakeKernel kernel = {"baton_wide_fill", {8, 8, 8}, [](const FakeLaunch& launch) {
                                      auto* target = load_bytes<uint64_t*>(launch.parameters);
                                      const auto count = load_bytes<uint64_t>(launch.parameters + 8);
                                      for (uint64_t i = 0; i < count; ++i) {
                                        target[i] = load_bytes<uint64_t>(launch.parameters + 16);
                                      }
                                    }};
  return &kernel;
}
CUresult load(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned, CUlibraryOption*, void**,
              unsigned) {
  FAKE_LOCK;
  FAKE_LOG("cuLibraryLoadData");
  const std::string_view ptx(static_cast<const char*>(code));
  auto made = std::make_unique<Library>();
  if (ptx.find(nothing_kernel()->name) != std::string_view::npos) made->kernels.push_back(nothing_kernel());
  if (ptx.find(wide_fill_kernel()->name) != std::string_view::npos) made->kernels.push_back(wide_fill_kernel());
  for (const FakeKernel& kernel : fake->kernels) {
    if (ptx.find(kernel.name) != std::string_view::npos) made->kernels.push_back(&kernel);
  }
  *library = reinterpret_cast<CUlibrary>(made.release());
  return CUDA_SUCCESS;  // As the real one, which looks at the code when somebody asks for its kernels.
}
// Only asked about code in which there is no kernel.
CUresult load_module(CUmodule*, const void*, unsigned option_count, CUjit_option* options, void** values) {
  FAKE_LOCK;
  FAKE_LOG("cuModuleLoadDataEx");
  if (option_count > 0 && options[0] == CU_JIT_ERROR_LOG_BUFFER) {
    std::strcpy(static_cast<char*>(values[0]), "ptxas: syntax error in line 1\n");
  }
  return CUDA_ERROR_INVALID_PTX;
}
CUresult unload_module(CUmodule) { return CUDA_SUCCESS; }

// A link puts texts behind each other; what is declared extern must be visible in one of them.
struct LinkState {
  std::string text;
  char* log = nullptr;
};
CUresult begin_link(unsigned option_count, CUjit_option* options, void** values, CUlinkState* state) {
  FAKE_LOCK;
  FAKE_LOG("cuLinkCreate");
  auto made = std::make_unique<LinkState>();
  if (option_count > 0 && options[0] == CU_JIT_ERROR_LOG_BUFFER) made->log = static_cast<char*>(values[0]);
  *state = reinterpret_cast<CUlinkState>(made.release());
  return CUDA_SUCCESS;
}
CUresult add_to_link(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name, unsigned,
                     CUjit_option*, void**) {
  FAKE_LOCK;
  FAKE_LOG("cuLinkAddData", " ", name, " ", static_cast<int>(type));
  as<LinkState>(state)->text.append(static_cast<const char*>(data), size);
  return CUDA_SUCCESS;
}
CUresult finish_link(CUlinkState state, void** linked, size_t* size) {
  FAKE_LOCK;
  FAKE_LOG("cuLinkComplete");
  LinkState& link = *as<LinkState>(state);
  const std::string wanted = ".extern .func ";
  for (size_t at = link.text.find(wanted); at != std::string::npos; at = link.text.find(wanted, at + 1)) {
    const size_t begin = at + wanted.size();
    const std::string name = link.text.substr(begin, link.text.find_first_of("(; ", begin) - begin);
    if (link.text.find(".visible .func " + name) != std::string::npos) continue;
    if (link.log) std::strcpy(link.log, ("error   : Undefined reference to '" + name + "'\n").c_str());
    return CUDA_ERROR_UNKNOWN;
  }
  *linked = link.text.data();
  *size = link.text.size();
  return CUDA_SUCCESS;
}
CUresult end_link(CUlinkState state) {
  FAKE_LOCK;
  FAKE_LOG("cuLinkDestroy");
  delete as<LinkState>(state);
  return CUDA_SUCCESS;
}
CUresult unload(CUlibrary library) {
  FAKE_LOCK;
  FAKE_LOG("cuLibraryUnload");
  delete as<Library>(library);
  return CUDA_SUCCESS;
}
CUresult find_kernel(CUkernel* kernel, CUlibrary library, const char* name) {
  for (const FakeKernel* one : as<Library>(library)->kernels) {
    if (one->name != name) continue;
    *kernel = reinterpret_cast<CUkernel>(const_cast<FakeKernel*>(one));
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}
CUresult find_global(CUdeviceptr* address, size_t* bytes, CUlibrary, const char* name) {
  for (auto& [known, held] : fake->constants) {
    if (known != name) continue;
    *address = reinterpret_cast<CUdeviceptr>(held.data());
    *bytes = held.size();
    return CUDA_SUCCESS;
  }
  static uint32_t variables[16];
  if (std::string_view(name) != "counters") return CUDA_ERROR_NOT_FOUND;
  *address = reinterpret_cast<CUdeviceptr>(&variables[4 * context_device(contexts.back())]);
  *bytes = 16;
  return CUDA_SUCCESS;
}
CUresult kernel_count(unsigned* count, CUlibrary library) {
  *count = static_cast<unsigned>(as<Library>(library)->kernels.size());
  return CUDA_SUCCESS;
}
CUresult enumerate(CUkernel* kernels, unsigned count, CUlibrary library) {
  for (unsigned i = 0; i < count; ++i) {
    kernels[i] = reinterpret_cast<CUkernel>(const_cast<FakeKernel*>(as<Library>(library)->kernels[i]));
  }
  return CUDA_SUCCESS;
}
CUresult kernel_name(const char** name, CUkernel kernel) {
  *name = as<FakeKernel>(kernel)->name.c_str();
  return CUDA_SUCCESS;
}
CUresult function_name(const char** name, CUfunction function) {
  *name = as<FakeKernel>(function)->name.c_str();
  return CUDA_SUCCESS;
}
CUresult parameter_info(CUkernel handle, size_t index, size_t* offset, size_t* bytes) {
  const auto& kernel = *as<FakeKernel>(handle);
  if (index >= kernel.parameter_bytes.size()) return CUDA_ERROR_INVALID_VALUE;
  std::vector<size_t> offsets;
  parameter_size(kernel, offsets);
  *offset = offsets[index];
  *bytes = kernel.parameter_bytes[index];
  return CUDA_SUCCESS;
}
CUresult kernel_attribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice) {
  *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK    ? 1024
           : attribute == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH ? as<FakeKernel>(kernel)->cluster_width
                                                                   : 0;
  return CUDA_SUCCESS;
}
CUresult set_kernel_attribute(CUfunction_attribute, int value, CUkernel kernel, CUdevice) {
  FAKE_LOCK;
  FAKE_LOG("cuKernelSetAttribute", " ", as<FakeKernel>(kernel)->name, " ", value);
  return CUDA_SUCCESS;
}
CUresult max_blocks(int* blocks, CUfunction, int threads, size_t) {
  *blocks = 2048 / threads;
  return CUDA_SUCCESS;
}
CUresult best_block(int* grid, int* block, CUfunction, CUoccupancyB2DSize, size_t, int) {
  *grid = 8;
  *block = 512;
  return CUDA_SUCCESS;
}
CUresult max_clusters(int* clusters, CUfunction, const CUlaunchConfig* config) {
  *clusters = config->gridDimX * config->gridDimY * config->gridDimZ > 16 ? 0 : 8;
  return CUDA_SUCCESS;
}

}  // namespace

size_t FakeCuda::count(const std::string& prefix) const {
  FAKE_LOCK;
  return static_cast<size_t>(
      std::count_if(log.begin(), log.end(), [&](const auto& line) { return line.starts_with(prefix); }));
}

std::string FakeCuda::log_text() const {
  FAKE_LOCK;
  std::string all;
  for (const std::string& line : log) all += line + "\n";
  return all;
}

FakeCuda& fake_cuda() { return *fake; }

void fail_next(const char* entry, CUresult result) {
  FAKE_LOCK;
  fake->failing_entry = entry;
  fake->failing_result = result;
}

std::shared_ptr<const hal::drivers::cuda::Symbols> make_fake_cuda() {
  {
    FAKE_LOCK;  // The worker of a device that is going may still ask.
    fake = std::make_unique<FakeCuda>();
  }
  auto symbols = std::make_shared<hal::drivers::cuda::Symbols>();
  *symbols = {init,
              driver_version,
              error_name,
              error_string,
              device_count,
              device_get,
              device_name,
              device_uuid,
              device_memory,
              device_attribute,
              retain_context,
              release_context,
              get_current,
              push_current,
              pop_current,
              priority_range,
              current_device,
              synchronize_context,
              can_access_peer,
              enable_peer_access,
              memory_info,
              pool_create,
              pool_destroy,
              pool_set,
              pool_open,
              pool_trim,
              allocate_now,
              release_now,
              get_handle,
              open_handle,
              close_handle,
              allocate,
              allocate_anywhere,
              release,
              allocate_pinned,
              release_pinned,
              pin,
              unpin,
              pinned_address,
              pointer_attribute,
              copy,
              fill8,
              fill16,
              fill32,
              stream_create,
              stream_destroy,
              stream_synchronize,
              stream_context,
              stream_wait,
              event_create,
              event_destroy,
              event_record,
              event_query,
              elapsed,
              host_function,
              launch_kernel,
              launch_kernel_with,
              begin_capture,
              end_capture,
              capture_state,
              set_capture_dependencies,
              graph_create,
              graph_destroy,
              add_kernel,
              add_copy,
              add_fill,
              add_host,
              add_empty,
              add_child,
              set_node_attribute,
              add_edges,
              get_nodes,
              node_type,
              kernel_parameters,
              instantiate,
              instance_destroy,
              upload,
              launch_graph,
              patch_kernel,
              patch_copy,
              patch_fill,
              patch_host,
              patch_child,
              load,
              load_module,
              unload_module,
              begin_link,
              add_to_link,
              finish_link,
              end_link,
              unload,
              find_kernel,
              find_global,
              kernel_count,
              enumerate,
              kernel_name,
              function_name,
              parameter_info,
              kernel_attribute,
              set_kernel_attribute,
              max_blocks,
              best_block,
              max_clusters};
  return symbols;
}

std::vector<FakeKernel> fake_conformance_kernels() {
  const auto pointer = [](const FakeLaunch& launch, size_t index) {
    return load_bytes<uint32_t*>(launch.parameters + 8 * index);
  };
  static const auto address = pointer;
  return {
      {"add",
       {8, 8, 8, 4},
       [](const FakeLaunch& launch) {
         const auto count = load_bytes<uint32_t>(launch.parameters + 24);
         for (uint32_t i = 0; i < count && i < 64 * launch.grid[0]; ++i) {
           address(launch, 2)[i] = address(launch, 0)[i] + address(launch, 1)[i];
         }
       }},
      {"scale",
       {8, 4, 4},
       [](const FakeLaunch& launch) {
         const auto count = load_bytes<uint32_t>(launch.parameters + 8);
         const auto factor = load_bytes<uint32_t>(launch.parameters + 12);
         for (uint32_t i = 0; i < count && i < 64 * launch.grid[0]; ++i) address(launch, 0)[i] *= factor;
       }},
      {"write_ids",
       {8},
       [](const FakeLaunch& launch) {
         uint32_t* target = address(launch, 0);
         for (uint32_t z = 0; z < launch.grid[2]; ++z)
           for (uint32_t y = 0; y < launch.grid[1]; ++y)
             for (uint32_t x = 0; x < launch.grid[0]; ++x) *target++ = x + 100 * y + 10000 * z;
       }},
      {"local_sum",
       {8, 8},
       [](const FakeLaunch& launch) {
         for (uint32_t x = 0; x < launch.grid[0]; ++x) {
           uint32_t sum = 0;
           for (uint32_t i = 0; i < 16; ++i) sum += address(launch, 0)[16 * x + i];
           address(launch, 1)[x] = sum;
         }
       }},
      {"fail", {8}, [](const FakeLaunch&) {}},
  };
}

}  // namespace baton::testing_support
