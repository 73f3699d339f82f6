#include "tests/libraries/fake_cudnn.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
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

  bool is_set(int attribute) const {
    const auto found = attributes.find(attribute);
    return found != attributes.end() && found->second[0] != std::byte{0};
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
    case Cudnn::kBoolValue: return 1;
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
  int64_t id;
  Numbers sizes, strides;
  bool is_virtual, is_by_value;
  explicit Tensor(const Descriptor& of)
      : id(of.one<int64_t>(Cudnn::kTensorId)),
        sizes(of.all<int64_t>(Cudnn::kTensorSizes)),
        strides(of.all<int64_t>(Cudnn::kTensorStrides)),
        is_virtual(of.is_set(Cudnn::kTensorVirtual)),
        is_by_value(of.is_set(Cudnn::kTensorByValue)) {}

  // Where the last dimension or several have one element, all places read it.
  float& at(float* memory, Numbers place_) const {
    for (size_t d = 0; d < place_.size(); ++d) {
      if (sizes[d] == 1) place_[d] = 0;
    }
    return memory[place(place_, strides)];
  }
};

// Memory of tensors by their ids.
using Memories = std::map<int64_t, float*>;

// What a plan computes.
struct Work {
  virtual ~Work() = default;
  virtual bool is_possible() const = 0;
  virtual Numbers by_value() const { return {}; }  // Ids of tensors that are read when it is enqueued.
  virtual void run(const Memories& memories) const = 0;
};

struct ConvolutionWork final : Work {
  int type;
  Tensor x, w, y;
  Numbers before, after, steps, dilations;

  explicit ConvolutionWork(const Descriptor& operation)
      : type(operation.type), x(tensor(operation, 4)), w(tensor(operation, 3)), y(tensor(operation, 5)) {
    const auto* convolution = operation.one(first() + 2);
    before = convolution->all<int64_t>(Cudnn::kConvolutionBefore);
    after = convolution->all<int64_t>(Cudnn::kConvolutionAfter);
    steps = convolution->all<int64_t>(Cudnn::kConvolutionStrides);
    dilations = convolution->all<int64_t>(Cudnn::kConvolutionDilations);
  }

  bool is_possible() const override {
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

  void run(const Memories& memories) const override {
    float *x_at = memories.at('x'), *w_at = memories.at('w'), *y_at = memories.at('y');
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

// Operations one after the other, as an attention has them, on tensors of four dimensions.
struct GraphWork final : Work {
  struct Operation {
    int type, mode = 0;
    int64_t axis = 0;
    std::vector<Tensor> tensors = {};  // What it reads, and what it writes.
  };
  std::vector<Operation> operations;

  explicit GraphWork(const std::vector<Descriptor*>& of) {
    for (const Descriptor* each : of) {
      Operation& made = operations.emplace_back(Operation{each->type});
      const auto add = [&](int attribute) {
        if (each->attributes.contains(attribute)) made.tensors.emplace_back(*each->one(attribute));
      };
      switch (each->type) {
        case Cudnn::kProductOperation:
          for (const int i : {0, 1, 2}) add(Cudnn::kProductA + i);
          break;
        case Cudnn::kReductionOperation:
          made.mode = each->one(Cudnn::kReductionX + 2)->one<int>(Cudnn::kReductionMode);
          for (const int i : {0, 1}) add(Cudnn::kReductionX + i);
          break;
        default: {
          const Descriptor* pointwise = each->one(Cudnn::kOfPointwise);
          made.mode = pointwise->one<int>(Cudnn::kPointwiseMode);
          if (made.mode == Cudnn::kIndex) made.axis = pointwise->one<int64_t>(Cudnn::kPointwiseAxis);
          for (const int attribute : {Cudnn::kOfPointwise + 1, Cudnn::kOfPointwise + 2, int{Cudnn::kPointwiseCondition},
                                      Cudnn::kOfPointwise + 3})
            add(attribute);
        }
      }
    }
  }

  // Real engines want the logarithm of the sums, though nobody reads it.
  bool is_possible() const override {
    return std::any_of(operations.begin(), operations.end(), [](const Operation& each) {
      return each.type == Cudnn::kPointwiseOperation && each.mode == Cudnn::kLog;
    });
  }
  Numbers by_value() const override {
    Numbers ids;
    for (const Operation& each : operations) {
      for (const Tensor& tensor : each.tensors) {
        if (tensor.is_by_value) ids.push_back(tensor.id);
      }
    }
    return ids;
  }

  void run(const Memories& memories) const override {
    std::map<int64_t, std::vector<float>> between;
    for (const Operation& each : operations) {
      std::vector<float*> at;
      for (const Tensor& tensor : each.tensors) {
        if (!tensor.is_virtual) {
          at.push_back(memories.at(tensor.id));
          continue;
        }
        std::vector<float>& memory = between[tensor.id];
        memory.resize(static_cast<size_t>(tensor.sizes[0] * tensor.strides[0]));
        at.push_back(memory.data());
      }
      switch (each.type) {
        case Cudnn::kProductOperation: multiply(each, at); break;
        case Cudnn::kReductionOperation: reduce(each, at); break;
        default: apply(each, at);
      }
    }
  }

 private:
  static void multiply(const Operation& of, const std::vector<float*>& at) {
    const Tensor &a = of.tensors[0], &b = of.tensors[1], &c = of.tensors[2];
    visit(c.sizes, [&](const Numbers& to) {
      float sum = 0;
      for (int64_t step = 0; step < a.sizes[3]; ++step) {
        const int64_t head = to[1] / (a.sizes[1] / b.sizes[1]);
        sum += a.at(at[0], {to[0], to[1], to[2], step}) * b.at(at[1], {to[0], head, step, to[3]});
      }
      c.at(at[2], to) = sum;
    });
  }
  static void reduce(const Operation& of, const std::vector<float*>& at) {
    const Tensor &x = of.tensors[0], &y = of.tensors[1];
    visit(y.sizes, [&](const Numbers& to) {
      float all = of.mode == Cudnn::kSum ? 0 : -INFINITY;
      for (int64_t i = 0; i < x.sizes[3]; ++i) {
        const float one = x.at(at[0], {to[0], to[1], to[2], i});
        all = of.mode == Cudnn::kSum ? all + one : std::max(all, one);
      }
      y.at(at[1], to) = all;
    });
  }
  static void apply(const Operation& of, const std::vector<float*>& at) {
    const Tensor& y = of.tensors.back();
    visit(y.sizes, [&](const Numbers& to) {
      const auto operand = [&](size_t i) { return of.tensors[i].at(at[i], to); };
      float& result = y.at(at.back(), to);
      switch (of.mode) {
        case Cudnn::kAdd: result = operand(0) + operand(1); break;
        case Cudnn::kMultiply: result = operand(0) * operand(1); break;
        case Cudnn::kDivide: result = operand(0) / operand(1); break;
        case Cudnn::kSubtract: result = operand(0) - operand(1); break;
        case Cudnn::kExp: result = std::exp(operand(0)); break;
        case Cudnn::kLog: result = std::log(operand(0)); break;
        case Cudnn::kIsAtLeast: result = operand(0) >= operand(1); break;
        case Cudnn::kIndex: result = static_cast<float>(to[static_cast<size_t>(of.axis)]); break;
        case Cudnn::kSelect: result = operand(2) != 0 ? operand(0) : operand(1); break;
        default: result = NAN;
      }
    });
  }
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
  const auto operations = graph->all<Descriptor*>(Cudnn::kGraphOperations);
  if (operations.size() == 1) {
    descriptor->work = std::make_shared<const ConvolutionWork>(*operations[0]);
  } else {
    descriptor->work = std::make_shared<const GraphWork>(operations);
  }
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
  if (ids.size() != pointers.size() || !plan->is_finished || !variants->one<void*>(Cudnn::kVariantWorkspace))
    return kRefused;
  if (plan->engine != kComputes) return kRefused;  // One that rounds would be wrong.
  Memories memories;
  for (size_t i = 0; i < ids.size(); ++i) memories[ids[i]] = pointers[i];
  std::map<int64_t, float> values;
  for (const int64_t id : plan->work->by_value()) values[id] = *memories.at(id);
  return later(handle, [work = plan->work, memories, values]() mutable {
    for (auto& [id, value] : values) memories[id] = &value;
    work->run(memories);
  });
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
