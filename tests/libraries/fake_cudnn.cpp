#include "tests/libraries/fake_cudnn.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "modules/libraries/cudnn_backend.hpp"

namespace baton::testing_support {
namespace {

#define FAKE extern "C" __attribute__((visibility("default")))

using libraries::Cudnn;

std::atomic<int> alive{0}, moved{0};
FakeCudnnEnqueue enqueue_on = nullptr;
constexpr int kRefused = 2000;
constexpr size_t kWorkspaceBytes = 64;
enum Engine : int64_t { kRounds, kTakesNothing, kComputes, kEngines };

struct Descriptor {
  explicit Descriptor(int type_) : type(type_) { ++alive; }
  ~Descriptor() { --alive; }

  template <typename T>
  std::vector<T> all(int attribute) const {
    const auto found = attributes.find(attribute);
    if (found == attributes.end()) return {};
    std::vector<T> values(found->second.size() / sizeof(T));
    std::memcpy(values.data(), found->second.data(), values.size() * sizeof(T));
    return values;
  }
  template <typename T = Descriptor*>
  T one(int attribute) const {
    return all<T>(attribute).at(0);
  }

  int type;
  std::map<int, std::vector<std::byte>> attributes;
  int64_t engine = 0;                            // Of a configuration and a plan.
  std::shared_ptr<const struct Work> work = {};  // Of a plan: it needs nothing that was described before.
  bool is_finished = false;
};

struct Handle {
  void* stream = nullptr;
};

size_t bytes_of(int type) {
  switch (type) {
    case Cudnn::kInt64Value:
    case Cudnn::kPointerValue:
    case Cudnn::kHandleValue:
    case Cudnn::kDescriptorValue: return 8;
    default: return 4;
  }
}

// A graph may run a job again and again: it stays.
std::mutex jobs_mutex;
std::deque<std::function<void()>> jobs;
int later(void* handle, std::function<void()> job) {
  std::lock_guard lock(jobs_mutex);
  jobs.push_back(std::move(job));
  const auto run = [](void* data) { (*static_cast<std::function<void()>*>(data))(); };
  return enqueue_on(static_cast<Handle*>(handle)->stream, run, &jobs.back());
}

using Numbers = std::vector<int64_t>;

// Each place of a tensor of these sizes.
template <typename Visit>
void visit(const Numbers& sizes, Visit&& each) {
  Numbers at(sizes.size(), 0);
  while (true) {
    each(at);
    size_t d = sizes.size();
    while (d > 0 && ++at[d - 1] == sizes[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}
size_t place(const Numbers& at, const Numbers& strides) {
  int64_t sum = 0;
  for (size_t d = 0; d < at.size(); ++d) sum += at[d] * strides[d];
  return static_cast<size_t>(sum);
}

bool is_packed(const Numbers& sizes, const Numbers& strides, bool channels_last) {
  int64_t inner = 1;
  Numbers order;
  if (channels_last) order.push_back(1);
  for (size_t d = sizes.size(); d-- > 2;) order.push_back(static_cast<int64_t>(d));
  if (!channels_last) order.push_back(1);
  order.push_back(0);
  for (const int64_t d : order) {
    if (sizes[static_cast<size_t>(d)] != 1 && strides[static_cast<size_t>(d)] != inner) return false;
    inner *= sizes[static_cast<size_t>(d)];
  }
  return true;
}

struct Tensor {
  Numbers sizes, strides;
  explicit Tensor(const Descriptor& of)
      : sizes(of.all<int64_t>(Cudnn::kTensorSizes)), strides(of.all<int64_t>(Cudnn::kTensorStrides)) {}
};

struct Work {
  int type;
  Tensor x, w, y;
  Numbers before, after, steps, dilations;

  explicit Work(const Descriptor& operation)
      : type(operation.type), x(tensor(operation, 4)), w(tensor(operation, 3)), y(tensor(operation, 5)) {
    const auto* convolution = operation.one(first() + 2);
    before = convolution->all<int64_t>(Cudnn::kConvolutionBefore);
    after = convolution->all<int64_t>(Cudnn::kConvolutionAfter);
    steps = convolution->all<int64_t>(Cudnn::kConvolutionStrides);
    dilations = convolution->all<int64_t>(Cudnn::kConvolutionDilations);
  }

  bool is_possible() const {
    for (size_t d = 2; d < x.sizes.size(); ++d) {
      const int64_t reach = (w.sizes[d] - 1) * dilations[d - 2] + 1;
      const int64_t results = (x.sizes[d] + before[d - 2] + after[d - 2] - reach) / steps[d - 2] + 1;
      if (results != y.sizes[d]) return false;
    }
    const auto all_packed = [&](bool last) {
      return is_packed(x.sizes, x.strides, last) && is_packed(w.sizes, w.strides, last) &&
             is_packed(y.sizes, y.strides, last);
    };
    return x.sizes.size() >= 4 && (all_packed(true) || all_packed(false));
  }

  void run(float* x_at, float* w_at, float* y_at) const {
    const auto clear = [](const Tensor& of, float* at) {
      visit(of.sizes, [&](const Numbers& place_) { at[place(place_, of.strides)] = 0; });
    };
    clear(result(), type == Cudnn::kForward ? y_at : type == Cudnn::kFilterGradient ? w_at : x_at);
    const int64_t inputs = w.sizes[1], groups = x.sizes[1] / inputs, outputs = y.sizes[1] / groups;
    visit(y.sizes, [&](const Numbers& to) {
      visit(w.sizes, [&](const Numbers& over) {
        if (over[0] != to[1]) return;
        Numbers from = {to[0], to[1] / outputs * inputs + over[1]};
        for (size_t d = 2; d < to.size(); ++d) {
          from.push_back(to[d] * steps[d - 2] + over[d] * dilations[d - 2] - before[d - 2]);
          if (from[d] < 0 || from[d] >= x.sizes[d]) return;
        }
        float &a = x_at[place(from, x.strides)], &b = w_at[place(over, w.strides)], &c = y_at[place(to, y.strides)];
        if (type == Cudnn::kForward) c += a * b;
        if (type == Cudnn::kFilterGradient) b += a * c;
        if (type == Cudnn::kInputGradient) a += b * c;
      });
    });
  }

 private:
  int first() const {
    return type == Cudnn::kForward         ? Cudnn::kForwardAlpha
           : type == Cudnn::kInputGradient ? Cudnn::kInputGradientAlpha
                                           : Cudnn::kFilterGradientAlpha;
  }
  Tensor tensor(const Descriptor& operation, int behind) const { return Tensor(*operation.one(first() + behind)); }
  const Tensor& result() const { return type == Cudnn::kForward ? y : type == Cudnn::kFilterGradient ? w : x; }
};

template <typename T>
void keep(Descriptor& of, int attribute, const T& value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  of.attributes[attribute].assign(bytes, bytes + sizeof(T));
}

struct PlainTensor {
  Numbers sizes, strides;
};

}  // namespace

FAKE void fake_cudnn_set_enqueue(FakeCudnnEnqueue enqueue) { enqueue_on = enqueue; }
FAKE int fake_cudnn_alive() { return alive; }
FAKE int fake_cudnn_moved() { return moved; }

FAKE int cudnnCreate(void** handle) {
  *handle = new Handle;
  ++alive;
  return 0;
}
FAKE int cudnnDestroy(void* handle) {
  delete static_cast<Handle*>(handle);
  --alive;
  return 0;
}
FAKE int cudnnSetStream(void* handle, void* stream) {
  static_cast<Handle*>(handle)->stream = stream;
  return 0;
}
FAKE int cudnnBackendCreateDescriptor(int type, void** made) {
  *made = new Descriptor(type);
  return 0;
}
FAKE int cudnnBackendDestroyDescriptor(void* made) {
  delete static_cast<Descriptor*>(made);
  return 0;
}
FAKE int cudnnBackendSetAttribute(void* of, int attribute, int type, int64_t count, const void* values) {
  auto* descriptor = static_cast<Descriptor*>(of);
  if (descriptor->is_finished || count < 1) return kRefused;
  const auto* bytes = static_cast<const std::byte*>(values);
  descriptor->attributes[attribute].assign(bytes, bytes + static_cast<size_t>(count) * bytes_of(type));
  return 0;
}
FAKE int cudnnBackendFinalize(void* of) {
  auto* descriptor = static_cast<Descriptor*>(of);
  descriptor->is_finished = true;
  if (descriptor->type != Cudnn::kPlan) return 0;
  const auto* configuration = descriptor->one(Cudnn::kPlanConfiguration);
  descriptor->engine = configuration->engine;
  const auto* graph = configuration->one(Cudnn::kHeuristicsGraph);
  descriptor->work = std::make_shared<const Work>(*graph->one(Cudnn::kGraphOperations));
  return descriptor->engine != kTakesNothing && descriptor->work->is_possible() ? 0 : kRefused;
}
FAKE int cudnnBackendGetAttribute(void* of, int attribute, int, int64_t wanted, int64_t* count, void* values) {
  auto* descriptor = static_cast<Descriptor*>(of);
  *count = 1;
  switch (attribute) {
    case Cudnn::kHeuristicsResults: {
      *count = std::min<int64_t>(wanted, kEngines);
      for (int64_t i = 0; i < *count; ++i) {
        Descriptor* configuration = static_cast<Descriptor**>(values)[i];
        configuration->engine = i;
        keep(*configuration, Cudnn::kHeuristicsGraph, descriptor->one(Cudnn::kHeuristicsGraph));
      }
      return 0;
    }
    case Cudnn::kConfigurationEngine: (*static_cast<Descriptor**>(values))->engine = descriptor->engine; return 0;
    case Cudnn::kEngineNotes: {
      *count = descriptor->engine == kRounds;
      static_cast<int*>(values)[0] = Cudnn::kTensorCores;
      return 0;
    }
    case Cudnn::kPlanWorkspaceBytes: *static_cast<int64_t*>(values) = kWorkspaceBytes; return 0;
    default: return kRefused;
  }
}
FAKE int cudnnBackendExecute(void* handle, void* plan_, void* variants_) {
  const auto *plan = static_cast<Descriptor*>(plan_), *variants = static_cast<Descriptor*>(variants_);
  const Numbers ids = variants->all<int64_t>(Cudnn::kVariantIds);
  const auto pointers = variants->all<float*>(Cudnn::kVariantPointers);
  if (ids != Numbers{'x', 'w', 'y'} || !plan->is_finished || !variants->one<void*>(Cudnn::kVariantWorkspace))
    return kRefused;
  if (plan->engine != kComputes) return kRefused;  // One that rounds would be wrong.
  return later(handle, [work = plan->work, pointers] { work->run(pointers[0], pointers[1], pointers[2]); });
}

FAKE int cudnnCreateTensorDescriptor(void** made) {
  *made = new PlainTensor;
  ++alive;
  return 0;
}
FAKE int cudnnDestroyTensorDescriptor(void* made) {
  delete static_cast<PlainTensor*>(made);
  --alive;
  return 0;
}
FAKE int cudnnSetTensorNdDescriptor(void* of, int element, int dimensions, const int* sizes, const int* strides) {
  auto* tensor = static_cast<PlainTensor*>(of);
  tensor->sizes.assign(sizes, sizes + dimensions);
  tensor->strides.assign(strides, strides + dimensions);
  return element == Cudnn::kF32 ? 0 : kRefused;
}
FAKE int cudnnTransformTensor(void* handle, const void*, void* from_is, const void* from, const void*, void* to_is,
                              void* to) {
  ++moved;
  const PlainTensor a = *static_cast<PlainTensor*>(from_is), b = *static_cast<PlainTensor*>(to_is);
  if (a.sizes != b.sizes) return kRefused;
  return later(handle, [=] {
    visit(a.sizes, [&](const Numbers& at) {
      static_cast<float*>(to)[place(at, b.strides)] = static_cast<const float*>(from)[place(at, a.strides)];
    });
  });
}

}  // namespace baton::testing_support
