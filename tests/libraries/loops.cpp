// A plugin whose commands are convolutions in the plainest loops, of f32 on the host: it shows that what the compiler tells a library, sizes
// and strides of what a program reads and writes, is a convolution of that. It wants what cuDNN wants of images and results. Attention is one
// kernel on GPUs alone, so its command computes nothing: a null device shows what it was told, and attention_test.py computes that.
#include "modules/libraries/attention.hpp"
#include "modules/libraries/convolution.hpp"
#include "modules/libraries/on_host.hpp"
#include "modules/libraries/report.hpp"

namespace {

using namespace baton::sdk;
using namespace baton::libraries;

using Values = std::span<float>;
using Constants = std::span<const float>;

// Visits what one x and one w add to one y: their places.
template <typename Visit>
void visit(const Convolution& of, Visit&& add) {
  const auto& [first, second, third] = of.along;
  std::array<int64_t, 3> to, over;
  for (int64_t image = 0; image < of.images; ++image)
    for (int64_t output = 0; output < of.groups * of.outputs; ++output)
      for (int64_t input = 0; input < of.inputs; ++input)
        for (to[0] = 0; to[0] < first.result; ++to[0])
          for (to[1] = 0; to[1] < second.result; ++to[1])
            for (to[2] = 0; to[2] < third.result; ++to[2])
              for (over[0] = 0; over[0] < first.window; ++over[0])
                for (over[1] = 0; over[1] < second.window; ++over[1])
                  for (over[2] = 0; over[2] < third.window; ++over[2]) {
                    const int64_t channel = output / of.outputs * of.inputs + input;
                    int64_t x = image * of.x[0] + channel * of.x[1], w = output * of.w[0] + input * of.w[1],
                            y = image * of.y[0] + output * of.y[1];
                    bool is_inside = true;
                    for (size_t d = 0; d < 3; ++d) {
                      const Convolution::Along& along = of.along[d];
                      const int64_t at = to[d] * along.step + over[d] * along.dilation - along.before;
                      is_inside = is_inside && at >= 0 && at < along.image;
                      x += at * of.x[2 + d];
                      w += over[d] * of.w[2 + d];
                      y += to[d] * of.y[2 + d];
                    }
                    if (is_inside) add(static_cast<size_t>(x), static_cast<size_t>(w), static_cast<size_t>(y));
                  }
}

class Loops final : public Module<Loops> {
 public:
  explicit Loops(const Parameters& parameters) : report_("loops", parameters) {}

  int32_t available(const Device&) { return 1; }

  Status convolution(CommandBuffer& rec, Binding<const float> x, Binding<const float> w, Binding<float> y,
                     Variadic<int64_t> numbers) {
    return record(rec, "convolution", numbers, x, w, y,
                  [](const Convolution& of, Constants x_, Constants w_, Values y_) {
                    visit(of, [&](size_t x_at, size_t w_at, size_t y_at) { y_[y_at] += x_[x_at] * w_[w_at]; });
                  });
  }
  Status filter_gradient(CommandBuffer& rec, Binding<const float> x, Binding<const float> y, Binding<float> w,
                         Variadic<int64_t> numbers) {
    return record(rec, "filter_gradient", numbers, x, y, w,
                  [](const Convolution& of, Constants x_, Constants y_, Values w_) {
                    visit(of, [&](size_t x_at, size_t w_at, size_t y_at) { w_[w_at] += x_[x_at] * y_[y_at]; });
                  });
  }
  Status input_gradient(CommandBuffer& rec, Binding<const float> y, Binding<const float> w, Binding<float> x,
                        Variadic<int64_t> numbers) {
    return record(rec, "input_gradient", numbers, y, w, x,
                  [](const Convolution& of, Constants y_, Constants w_, Values x_) {
                    visit(of, [&](size_t x_at, size_t w_at, size_t y_at) { x_[x_at] += y_[y_at] * w_[w_at]; });
                  });
  }

  Status attention(CommandBuffer& rec, Binding<const std::byte> q, Binding<const std::byte> k,
                   Binding<const std::byte> v, Binding<std::byte> result, Variadic<int64_t> numbers) {
    BATON_ASSIGN_OR_RETURN([[maybe_unused]] const Attention of, Attention::make(numbers));
    std::string told = "loops.attention";
    for (const int64_t number : numbers) told += " " + std::to_string(number);
    const auto refuse = [](Foreign&, auto...) {
      return failure(StatusCode::kUnimplemented, "loops.attention computes nothing.");
    };
    return rec.foreign(told, refuse, q, k, v, result);
  }

 private:
  template <typename Run>
  Status record(CommandBuffer& rec, const char* command, const Variadic<int64_t>& numbers, Binding<const float> a,
                Binding<const float> b, Binding<float> to, Run run) {
    BATON_ASSIGN_OR_RETURN(const Convolution of, Convolution::make(numbers));
    BATON_ASSIGN_OR_RETURN([[maybe_unused]] const Convolution::Order order, of.order());
    report_.recorded(std::string(command) + " " + of.describe());
    return record_on_host(
        rec, command,
        [of, run](Constants a_, Constants b_, Values to_) -> Status {
          std::fill(to_.begin(), to_.end(), 0.0f);
          run(of, a_, b_, to_);
          return {};
        },
        a, b, to);
  }

  Report report_;
};

}  // namespace

BATON_EXPORT_MODULE(Loops, "loops",                                     //
                    BATON_FUNCTION("available", &Loops::available),     //
                    BATON_COMMAND("convolution", &Loops::convolution),  //
                    BATON_COMMAND("convolution_filter_gradient", &Loops::filter_gradient),
                    BATON_COMMAND("convolution_input_gradient", &Loops::input_gradient),
                    BATON_COMMAND("attention", &Loops::attention));
