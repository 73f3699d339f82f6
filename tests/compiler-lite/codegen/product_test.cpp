// product: sums of products of any form against plain loops in f64. Loops of each kind (batches, rows, columns, steps),
// in any order of loops and of dimensions, of size 1, longer than a tile, with windows, on each element type; and what
// else reads by maps that tiles can't be cut from, or gives several results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/compiler-lite/codegen/compiled_groups.hpp"

namespace baton::compiler_lite::codegen {
namespace {

enum class Kind { kBatch, kRow, kColumn, kStep };
struct Loop {
  Kind kind;
  int64_t size;
};
// A dimension of an operand: a loop's number, or a window over two, `stride` elements apart and one.
struct Dimension {
  size_t loop;
  size_t window = SIZE_MAX;
  int64_t stride = 1;
};
struct Types {
  const char *input, *output;
};

struct Form {
  std::vector<Loop> loops;
  std::vector<Dimension> operands[3];
  Types types;
  bool from_zero;
  std::string name;
};

using Random = std::mt19937;
int64_t pick(Random& random, std::vector<int64_t> from) { return from[random() % from.size()]; }

Form make_form(Random& random, size_t number) {
  Form form;
  constexpr Types kTypes[] = {{"f32", "f32"}, {"f16", "f16"}, {"bf16", "bf16"},
                              {"f64", "f64"}, {"f16", "f32"}, {"i8", "i32"}};
  form.types = kTypes[number % 6];
  form.from_zero = random() % 2 == 0;
  form.name = "form" + std::to_string(number);
  // One of each kind is long now and then; others beside it are short.
  for (const Kind kind : {Kind::kRow, Kind::kColumn, Kind::kStep}) {
    form.loops.push_back({kind, pick(random, {1, 5, 16, 37, 64, kind == Kind::kStep ? 300 : 150})});
    if (random() % 3 == 0) form.loops.push_back({kind, pick(random, {1, 2, 3})});
  }
  for (auto i = random() % 3; i > 0; --i) form.loops.push_back({Kind::kBatch, pick(random, {1, 2, 3})});
  std::shuffle(form.loops.begin(), form.loops.end(), random);
  for (size_t loop = 0; loop < form.loops.size(); ++loop) {
    const Kind kind = form.loops[loop].kind;
    if (kind != Kind::kColumn) form.operands[0].push_back({loop});
    if (kind != Kind::kRow) form.operands[1].push_back({loop});
    if (kind != Kind::kStep) form.operands[2].push_back({loop});
  }
  for (auto& operand : form.operands) std::shuffle(operand.begin(), operand.end(), random);
  if (random() % 2 == 0) return form;
  // A window: the step's own dimension goes into the row's.
  auto& a = form.operands[0];
  const auto of_kind = [&](Kind kind) {
    return std::find_if(a.begin(), a.end(), [&](const Dimension& d) { return form.loops[d.loop].kind == kind; });
  };
  of_kind(Kind::kRow)->window = of_kind(Kind::kStep)->loop;
  of_kind(Kind::kRow)->stride = pick(random, {1, 2});
  a.erase(std::find_if(a.begin(), a.end(), [&](const Dimension& d) {
    return d.window == SIZE_MAX && form.loops[d.loop].kind == Kind::kStep;
  }));
  return form;
}

int64_t size_of(const Form& form, const Dimension& d) {
  const int64_t whole = (form.loops[d.loop].size - 1) * d.stride + 1;
  return d.window == SIZE_MAX ? whole : whole + form.loops[d.window].size - 1;
}
std::vector<int64_t> shape_of(const Form& form, size_t operand) {
  std::vector<int64_t> shape;
  for (const Dimension& d : form.operands[operand]) shape.push_back(size_of(form, d));
  return shape;
}
std::string type_of(const Form& form, size_t operand) {
  std::string text = "tensor<";
  for (const int64_t size : shape_of(form, operand)) text += std::to_string(size) + "x";
  return text + (operand == 2 ? form.types.output : form.types.input) + ">";
}

std::string map_of(const Form& form, size_t operand) {
  std::string text = "affine_map<(";
  for (size_t i = 0; i < form.loops.size(); ++i) text += (i ? ", d" : "d") + std::to_string(i);
  text += ") -> (";
  for (size_t i = 0; i < form.operands[operand].size(); ++i) {
    const Dimension& d = form.operands[operand][i];
    text += (i ? ", d" : "d") + std::to_string(d.loop) + " * " + std::to_string(d.stride);
    if (d.window != SIZE_MAX) text += " + d" + std::to_string(d.window);
  }
  return text + ")>";
}

std::string body_of(const Types& types) {
  const std::string in = types.input, out = types.output;
  const bool integer = in[0] == 'i';
  const std::string cast = in == out ? "" : integer ? "arith.extsi" : "arith.extf";
  std::string text = "  ^bb0(%x: " + in + ", %y: " + in + ", %s: " + out + "):\n";
  for (const char* value : {"x", "y"}) {
    if (!cast.empty())
      text += std::string("    %") + value + "w = " + cast + " %" + value + " : " + in + " to " + out + "\n";
  }
  const std::string w = cast.empty() ? "" : "w", suffix = integer ? "i" : "f";
  return text + "    %p = arith.mul" + suffix + " %x" + w + ", %y" + w + " : " + out + "\n    %t = arith.add" + suffix +
         " %s, %p : " + out + "\n    linalg.yield %t : " + out + "\n";
}

std::string text_of(const Form& form) {
  const std::string a = type_of(form, 0), b = type_of(form, 1), c = type_of(form, 2), out = form.types.output;
  std::string text = "func.func @" + form.name + "(%a: " + a + ", %b: " + b + ", %c: " + c + ") -> " + c + " {\n";
  text += "  %zero = arith.constant " + std::string(out[0] == 'i' ? "0" : "0.0") + " : " + out + "\n";
  text += "  %e = tensor.empty() : " + c + "\n";
  text += "  %f = linalg.fill ins(%zero : " + out + ") outs(%e : " + c + ") -> " + c + "\n";
  text += "  %r = linalg.generic {indexing_maps = [" + map_of(form, 0) + ", " + map_of(form, 1) + ", " +
          map_of(form, 2) + "], iterator_types = [";
  for (size_t i = 0; i < form.loops.size(); ++i) {
    text += std::string(i ? ", " : "") + (form.loops[i].kind == Kind::kStep ? "\"reduction\"" : "\"parallel\"");
  }
  text += "]} ins(%a, %b : " + a + ", " + b + ") outs(" + (form.from_zero ? "%f" : "%c") + " : " + c + ") {\n";
  return text + body_of(form.types) + "  } -> " + c + "\n  return %r : " + c + "\n}\n";
}

uint16_t to_half(double value) { return __builtin_bit_cast(uint16_t, static_cast<_Float16>(value)); }
uint16_t to_brain(double value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, static_cast<float>(value));
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
double of_brain(uint16_t bits) {
  return static_cast<double>(__builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16));
}

template <typename T, typename Convert>
Tensor pack(const std::vector<int64_t>& shape, const std::vector<double>& values, Convert convert) {
  std::vector<T> stored;
  for (const double value : values) stored.push_back(static_cast<T>(convert(value)));
  return Tensor::of<T>(shape, stored);
}
Tensor tensor_of(const std::string& type, const std::vector<int64_t>& shape, const std::vector<double>& values) {
  const auto same = [](double value) { return value; };
  if (type == "f16") return pack<uint16_t>(shape, values, to_half);
  if (type == "bf16") return pack<uint16_t>(shape, values, to_brain);
  if (type == "f32") return pack<float>(shape, values, same);
  if (type == "f64") return pack<double>(shape, values, same);
  return type == "i8" ? pack<int8_t>(shape, values, same) : pack<int32_t>(shape, values, same);
}
template <typename T, typename Convert>
std::vector<double> unpack(const Tensor& tensor, Convert convert) {
  std::vector<double> values;
  for (const T value : tensor.as<T>()) values.push_back(static_cast<double>(convert(value)));
  return values;
}
std::vector<double> values_of(const std::string& type, const Tensor& tensor) {
  const auto same = [](auto value) { return value; };
  if (type == "f16") return unpack<uint16_t>(tensor, [](uint16_t bits) { return __builtin_bit_cast(_Float16, bits); });
  if (type == "bf16") return unpack<uint16_t>(tensor, of_brain);
  if (type == "f32") return unpack<float>(tensor, same);
  if (type == "f64") return unpack<double>(tensor, same);
  return type == "i8" ? unpack<int8_t>(tensor, same) : unpack<int32_t>(tensor, same);
}
// Half a unit in the last place, as a share of the number; of f16 below its normal numbers, as a number.
constexpr double kSmallestHalf = 0x1p-25;
double rounding(const std::string& type) {
  return type == "f16" ? 0x1p-11 : type == "bf16" ? 0x1p-8 : type == "f32" ? 0x1p-24 : type == "f64" ? 0x1p-53 : 0;
}

Tensor random_tensor(Random& random, const std::string& type, const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  std::vector<double> values;
  const bool integer = type[0] == 'i';
  for (int64_t i = 0; i < count; ++i) {
    const double unit = static_cast<double>(random()) / 2147483648.0 - 1.0;
    values.push_back(integer ? std::trunc(unit * 100) : unit);
  }
  return tensor_of(type, shape, values);
}

// Which element of an operand the loops stand at.
size_t place(const Form& form, size_t operand, const std::vector<int64_t>& at) {
  int64_t index = 0;
  for (const Dimension& d : form.operands[operand]) {
    const int64_t here = at[d.loop] * d.stride + (d.window == SIZE_MAX ? 0 : at[d.window]);
    index = index * size_of(form, d) + here;
  }
  return static_cast<size_t>(index);
}

void check_sums(const Form& form, const Tensor& ta, const Tensor& tb, const Tensor& tc, const Tensor& result) {
  const std::vector<double> a = values_of(form.types.input, ta), b = values_of(form.types.input, tb);
  std::vector<double> sums = values_of(form.types.output, tc);
  if (form.from_zero) std::fill(sums.begin(), sums.end(), 0.0);
  std::vector<double> sizes(sums.size());
  std::vector<int64_t> at(form.loops.size(), 0);
  for (bool more = true; more;) {
    const double product = a[place(form, 0, at)] * b[place(form, 1, at)];
    sums[place(form, 2, at)] += product;
    sizes[place(form, 2, at)] += std::fabs(product);
    more = false;
    for (size_t i = at.size(); i-- > 0 && !more; at[i] = more ? at[i] : 0) more = ++at[i] < form.loops[i].size;
  }
  const std::vector<double> got = values_of(form.types.output, result);
  // Sums are kept in f32 at least: what they lose on their way has nothing to do with the type of the result.
  const double sum_rounding = form.types.output == std::string("f64") ? 0x1p-50 : 0x1p-20;
  for (size_t i = 0; i < sums.size(); ++i) {
    const double allowed = rounding(form.types.output) * std::fabs(sums[i]) * 1.01 +
                           (form.types.output == std::string("f16") ? kSmallestHalf : 0) +
                           (form.types.output[0] == 'i' ? 0 : sum_rounding * (sizes[i] + 1e-3));
    ASSERT_LE(std::fabs(got[i] - sums[i]), allowed) << text_of(form) << i << ": " << got[i] << ", not " << sums[i];
  }
}

class ProductTest : public testing::TestWithParam<std::string> {
 protected:
  CompileOptions options() const {
    CompileOptions options;
    options.levels = {GetParam()};
    return options;
  }
};

TEST_P(ProductTest, AnyFormIsRight) {
  Random random(11);
  std::vector<Form> forms;
  std::string text;
  for (size_t i = 0; i < 42; ++i) {
    forms.push_back(make_form(random, i));
    text += text_of(forms.back());
  }
  CompiledGroups groups(text, options());
  ASSERT_EQ(groups.messages(), "");
  for (const Form& form : forms) {
    Tensor a = random_tensor(random, form.types.input, shape_of(form, 0));
    Tensor b = random_tensor(random, form.types.input, shape_of(form, 1));
    Tensor c = random_tensor(random, form.types.output, shape_of(form, 2)), result = c;
    ASSERT_EQ(groups.run(form.name, {a, b, c}, {&result}), "") << text_of(form);
    check_sums(form, a, b, c, result);
    if (HasFatalFailure()) return;
  }
}

// Sums of halves that are no products: 3000 times 1.001 isn't what it is when each step is rounded.
TEST_P(ProductTest, SumsOfHalvesAreKeptInF32) {
  std::string text;
  for (const char* type : {"f16", "bf16"}) {
    const std::string t = type;
    text += "func.func @sum_" + t + "(%a: tensor<7x3000x" + t + ">) -> tensor<7x" + t +
            "> {\n  %zero = arith.constant 0.0 : " + t + "\n  %e = tensor.empty() : tensor<7x" + t +
            ">\n  %f = linalg.fill ins(%zero : " + t + ") outs(%e : tensor<7x" + t + ">) -> tensor<7x" + t +
            ">\n  %r = linalg.reduce ins(%a : tensor<7x3000x" + t + ">) outs(%f : tensor<7x" + t +
            ">) dimensions = [1]\n    (%x: " + t + ", %s: " + t + ") {\n      %t = arith.addf %s, %x : " + t +
            "\n      linalg.yield %t : " + t + "\n    }\n  return %r : tensor<7x" + t + ">\n}\n";
  }
  CompiledGroups groups(text, options());
  ASSERT_EQ(groups.messages(), "");
  for (const std::string type : {"f16", "bf16"}) {
    Tensor a = tensor_of(type, {7, 3000}, std::vector<double>(7 * 3000, 1.001)), r = Tensor::empty<uint16_t>({7});
    ASSERT_EQ(groups.run("sum_" + type, {a}, {&r}), "");
    const double truth = 3000 * values_of(type, a)[0];
    for (const double value : values_of(type, r)) EXPECT_NEAR(value, truth, truth * rounding(type) * 1.01) << type;
  }
}

// Several results of one type and shape, each of which begins with the same contents.
TEST_P(ProductTest, ResultsOfOneOperationHaveMemoryOfTheirOwn) {
  CompiledGroups groups(R"(
#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @largest(%a: tensor<300x40xi32>) -> (tensor<300xi32>, tensor<300xi32>) {
  %low = arith.constant -2147483648 : i32
  %e = tensor.empty() : tensor<300xi32>
  %f = linalg.fill ins(%low : i32) outs(%e : tensor<300xi32>) -> tensor<300xi32>
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<300x40xi32>) outs(%f, %f : tensor<300xi32>, tensor<300xi32>) {
  ^bb0(%x: i32, %best: i32, %where: i32):
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i32
    %better = arith.cmpi sgt, %x, %best : i32
    %value = arith.select %better, %x, %best : i32
    %place = arith.select %better, %here, %where : i32
    linalg.yield %value, %place : i32, i32
  } -> (tensor<300xi32>, tensor<300xi32>)
  return %r#0, %r#1 : tensor<300xi32>, tensor<300xi32>
}
func.func @both(%a: tensor<300x40xi32>) -> (tensor<300x40xi32>, tensor<300x40xi32>) {
  %e = tensor.empty() : tensor<300x40xi32>
  %r:2 = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<300x40xi32>) outs(%e, %e : tensor<300x40xi32>, tensor<300x40xi32>) {
  ^bb0(%x: i32, %p: i32, %q: i32):
    %s = arith.addi %x, %x : i32
    %t = arith.muli %x, %x : i32
    linalg.yield %s, %t : i32, i32
  } -> (tensor<300x40xi32>, tensor<300x40xi32>)
  return %r#0, %r#1 : tensor<300x40xi32>, tensor<300x40xi32>
})",
                        options());
  ASSERT_EQ(groups.messages(), "");
  std::vector<int32_t> values;
  for (int32_t i = 0; i < 300 * 40; ++i) values.push_back(i * 7919 % 10007 - 5000);
  Tensor a = Tensor::of<int32_t>({300, 40}, values), best = Tensor::empty<int32_t>({300}), where = best;
  ASSERT_EQ(groups.run("largest", {a}, {&best, &where}), "");
  for (int64_t i = 0; i < 300; ++i) {
    const auto row = values.begin() + i * 40, largest = std::max_element(row, row + 40);
    ASSERT_EQ(best.as<int32_t>()[static_cast<size_t>(i)], *largest) << i;
    ASSERT_EQ(where.as<int32_t>()[static_cast<size_t>(i)], largest - row) << i;
  }
  Tensor doubled = Tensor::empty<int32_t>({300, 40}), squared = doubled;
  ASSERT_EQ(groups.run("both", {a}, {&doubled, &squared}), "");
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(doubled.as<int32_t>()[i], 2 * values[i]) << i;
    ASSERT_EQ(squared.as<int32_t>()[i], values[i] * values[i]) << i;
  }
}

// Turned round, moved, divided: from each of several tiles, alone and in sums.
TEST_P(ProductTest, ReadsByAnyMap) {
  struct Read {
    const char* map;
    int64_t rows, columns;  // Of what is read.
    int64_t (*row)(int64_t i);
    int64_t (*column)(int64_t j);
  };
  const auto same = [](int64_t i) { return i; };
  const auto rows_turned = [](int64_t i) { return 499 - i; };
  const auto columns_turned = [](int64_t j) { return 299 - j; };
  const Read reads[] = {
      {"(-i + 499, j)", 500, 300, rows_turned, same},
      {"(i, -j + 299)", 500, 300, same, columns_turned},
      {"(-i + 499, -j + 299)", 500, 300, rows_turned, columns_turned},
      {"(i, j + 17)", 500, 317, same, [](int64_t j) { return j + 17; }},
      {"(i floordiv 3, j * 2)", 167, 599, [](int64_t i) { return i / 3; }, [](int64_t j) { return j * 2; }},
      {"(i mod 7, j)", 7, 300, [](int64_t i) { return i % 7; }, same},
      {"(3, j)", 4, 300, [](int64_t) { return int64_t{3}; }, same},
  };
  std::string text;
  for (size_t n = 0; n < std::size(reads); ++n) {
    const std::string source =
        "tensor<" + std::to_string(reads[n].rows) + "x" + std::to_string(reads[n].columns) + "xf64>";
    for (const bool sums : {false, true}) {
      const std::string result = sums ? "tensor<500xf64>" : "tensor<500x300xf64>";
      text += "func.func @read" + std::to_string(n) + (sums ? "_sums" : "") + "(%a: " + source +
              ", %b: tensor<500x300xf64>) -> " + result +
              " {\n  %zero = arith.constant 0.0 : f64\n  %e = tensor.empty() : " + result +
              "\n  %f = linalg.fill ins(%zero : f64) outs(%e : " + result + ") -> " + result +
              "\n  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> " + reads[n].map +
              ">, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i" + (sums ? "" : ", j") +
              ")>], iterator_types = [\"parallel\", \"" + (sums ? "reduction" : "parallel") +
              "\"]} ins(%a, %b : " + source + ", tensor<500x300xf64>) outs(%f : " + result +
              ") {\n  ^bb0(%x: f64, %y: f64, %s: f64):\n    %d = arith.subf %x, %y : f64\n    %t = arith.addf %s, %d : "
              "f64\n"
              "    linalg.yield %t : f64\n  } -> " +
              result + "\n  return %r : " + result + "\n}\n";
    }
  }
  CompiledGroups groups(text, options());
  ASSERT_EQ(groups.messages(), "");
  Random random(3);
  Tensor b = random_tensor(random, "f64", {500, 300});
  const std::vector<double> bv = b.as<double>();
  for (size_t n = 0; n < std::size(reads); ++n) {
    Tensor a = random_tensor(random, "f64", {reads[n].rows, reads[n].columns});
    const std::vector<double> av = a.as<double>();
    Tensor each = Tensor::empty<double>({500, 300}), sums = Tensor::empty<double>({500});
    ASSERT_EQ(groups.run("read" + std::to_string(n), {a, b}, {&each}), "");
    ASSERT_EQ(groups.run("read" + std::to_string(n) + "_sums", {a, b}, {&sums}), "");
    const std::vector<double> got = each.as<double>();
    for (int64_t i = 0; i < 500; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < 300; ++j) {
        const auto at = static_cast<size_t>(i * 300 + j);
        const double difference =
            av[static_cast<size_t>(reads[n].row(i) * reads[n].columns + reads[n].column(j))] - bv[at];
        ASSERT_EQ(got[at], difference) << reads[n].map << " " << i << " " << j;
        sum += difference;
      }
      ASSERT_NEAR(sums.as<double>()[static_cast<size_t>(i)], sum, 1e-9) << reads[n].map << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, ProductTest, testing::ValuesIn(host_levels()),
                         [](const auto& level) { return level.param; });

}  // namespace
}  // namespace baton::compiler_lite::codegen
