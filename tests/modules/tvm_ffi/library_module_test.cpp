// Goal: functions of a TVM-FFI library are functions and commands of a program: every kind of value goes in and out,
// tensors are never copied, errors come with their kind and their trace, and what does not fit is a sentence after which
// the next call works. Method: a library that TVM-FFI's own headers made (functions.cpp) is loaded as users do.
#include "modules/tvm_ffi/library_module.hpp"

#include <filesystem>
#include <thread>

#include "modules/tvm_ffi/library_symbols.hpp"
#include "modules/tvm_ffi/program.hpp"
#include "tests/modules/tvm_ffi/test_functions.hpp"
#include "tests/support/temporary_path.hpp"

namespace baton::modules::tvm_ffi {
namespace {

TEST(LibraryModuleTest, FunctionsAreReadFromTheFile) {
  EXPECT_TRUE(is_library(kLibrary));
  EXPECT_FALSE(is_library("/proc/self/exe"));
  EXPECT_FALSE(is_library("/nowhere.so"));
  EXPECT_FALSE(is_library("/dev/null"));
  const std::vector<std::string> names = exported_functions(kLibrary);
  EXPECT_THAT(names, testing::Contains("add_numbers"));
  EXPECT_THAT(names, testing::Contains("twice"));
}

// Whatever is missing at the end or wrong in the middle: a list, and no crash.
TEST(LibraryModuleTest, DamagedFilesHaveFewerFunctions) {
  std::vector<char> bytes;
  {
    std::FILE* file = std::fopen(kLibrary, "rb");
    char block[4096];
    for (size_t got; (got = std::fread(block, 1, sizeof(block), file)) > 0;)
      bytes.insert(bytes.end(), block, block + got);
    std::fclose(file);
  }
  const std::string path = testing_support::temporary_path("damaged.so");
  const size_t all = exported_functions(kLibrary).size();
  const auto count_of = [&](const std::vector<char>& content) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    std::fwrite(content.data(), 1, content.size(), file);
    std::fclose(file);
    return exported_functions(path).size();
  };
  for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 97) {
    EXPECT_LE(count_of({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}), all);
  }
  for (size_t at = 0; at < 64; ++at) {  // The head, which says where everything is.
    std::vector<char> damaged = bytes;
    damaged[at] = static_cast<char>(0xff);
    EXPECT_LE(count_of(damaged), all);
  }
  std::remove(path.c_str());
}

TEST(LibraryModuleTest, NumbersGoInAndOut) {
  Functions functions({{"add_numbers", "(i32, i64) -> i64"}, {"half", "(f32) -> f64"}, {"is_odd", "(i64) -> bool"}});
  const auto sum = functions.call("add_numbers", {Value::of(int32_t{-3}), Value::of(int64_t{1} << 40)});
  ASSERT_OK(sum);
  EXPECT_EQ((*sum)[0].i64, (int64_t{1} << 40) - 3);
  const auto half = functions.call("half", {Value::of(3.0f)});
  ASSERT_OK(half);
  EXPECT_EQ((*half)[0].f64, 1.5);
  const auto odd = functions.call("is_odd", {Value::of(int64_t{7})});
  ASSERT_OK(odd);
  EXPECT_EQ((*odd)[0].i32, 1);
}

TEST(LibraryModuleTest, ResultsMustFit) {
  Functions functions(
      {{"add_numbers", "(i64, i64) -> i32"}, {"half", "(f64) -> i64"}, {"greet", "(string) -> tensor"}});
  EXPECT_FAILS(functions.call("add_numbers", {Value::of(INT64_MAX), Value::of(int64_t{0})}), StatusCode::kOutOfRange,
               "9223372036854775807, which is no i32");
  EXPECT_FAILS(functions.call("half", {Value::of(3.0)}), StatusCode::kInvalidArgument, "It returned a float");
  const auto fits = functions.call("add_numbers", {Value::of(int64_t{1}), Value::of(int64_t{2})});
  ASSERT_OK(fits);
  EXPECT_EQ((*fits)[0].i32, 3);
}

TEST(LibraryModuleTest, TextAndBytesAreBlobs) {
  Functions functions({{"greet", "(string) -> string"}, {"sum_of_bytes", "(bytes) -> i64"}});
  for (const std::string name : {"", "you", "everybody who reads this"}) {  // In place and not.
    const auto blob = sdk::Blob::copy(name);
    const auto greeting = functions.call("greet", {ref_of(blob.get())});
    ASSERT_OK(greeting);
    const OwnedResult result((*greeting)[0]);
    EXPECT_EQ(sdk::cast<sdk::Blob>(result.object)->text(), "Hello, " + name + "!");
    const auto sum = functions.call("sum_of_bytes", {ref_of(blob.get())});
    ASSERT_OK(sum);
    int64_t expected = 0;
    for (const char c : name) expected += static_cast<unsigned char>(c);
    EXPECT_EQ((*sum)[0].i64, expected);
  }
}

TEST(LibraryModuleTest, TensorsAreTheSameMemory) {
  Functions functions({{"address_of", "(view) -> i64"}, {"twice", "(tensor, view)"}, {"same", "(tensor) -> tensor"}});
  Floats x(*functions.device, hal::ElementType::kF32, {2, 2}, {1, 2, 3, 4});
  Floats y(*functions.device, hal::ElementType::kF32, {2, 2}, {0, 0, 0, 0});
  const auto address = functions.call("address_of", {x.value()});
  ASSERT_OK(address);
  EXPECT_EQ(static_cast<uint64_t>((*address)[0].i64), x.view->buffer()->location().address);
  ASSERT_OK(functions.call("twice", {x.value(), y.value()}));
  EXPECT_THAT(y.read(*functions.device), testing::ElementsAre(2, 4, 6, 8));
  const auto same = functions.call("same", {x.value()});
  ASSERT_OK(same);
  const OwnedResult result((*same)[0]);
  const hal::BufferView& view = *unwrap<hal::BufferView>(result.object);
  EXPECT_EQ(view.type_text(), "2x2xf32");
  EXPECT_EQ(view.buffer()->location().address, x.view->buffer()->location().address);
}

TEST(LibraryModuleTest, EveryShapeAndTypeCrosses) {
  Functions functions({{"describe_shape", "(tensor) -> i64"}, {"describe_type", "(view) -> i64"}});
  for (size_t rank = 0; rank <= 8; ++rank) {
    Floats x(*functions.device, hal::ElementType::kF32, std::vector<int64_t>(rank, 1), {5});
    const auto shape = functions.call("describe_shape", {x.value()});
    ASSERT_OK(shape);
    int64_t expected = static_cast<int64_t>(rank);
    for (size_t i = 0; i < rank; ++i) expected = expected * 100 + 1;
    EXPECT_EQ((*shape)[0].i64, expected);
  }
  using hal::ElementType;
  const std::pair<ElementType, int64_t> types[] = {
      {ElementType::kI1, 608},  {ElementType::kI8, 8},     {ElementType::kI16, 16},  {ElementType::kI32, 32},
      {ElementType::kI64, 64},  {ElementType::kS8, 8},     {ElementType::kU8, 108},  {ElementType::kU16, 116},
      {ElementType::kU32, 132}, {ElementType::kU64, 164},  {ElementType::kF16, 216}, {ElementType::kF32, 232},
      {ElementType::kF64, 264}, {ElementType::kBF16, 416}, {ElementType::kC64, 564}, {ElementType::kC128, 628}};
  for (const auto& [type, expected] : types) {
    Tensor<std::byte> x(*functions.device, type, {1}, std::vector<std::byte>(hal::element_bytes(type)));
    const auto described = functions.call("describe_type", {x.value()});
    ASSERT_OK(described);
    EXPECT_EQ((*described)[0].i64, expected) << hal::element_type_name(type);
  }
}

TEST(LibraryModuleTest, AFunctionMayKeepATensor) {
  Functions functions({{"keep_tensor", "(tensor)"}, {"kept_sum", "() -> f64"}});
  {
    Floats x(*functions.device, hal::ElementType::kF32, {3}, {1, 2, 4});
    ASSERT_OK(functions.call("keep_tensor", {x.value()}));
  }
  const auto sum = functions.call("kept_sum", {});
  ASSERT_OK(sum);
  EXPECT_EQ((*sum)[0].f64, 7);
}

// What was lent and kept is nobody else's any more; what was not goes around.
TEST(LibraryModuleTest, KeptTensorsAreNotLentAgain) {
  Functions functions({{"keep_tensor", "(tensor)"}, {"kept_sum", "() -> f64"}, {"twice", "(tensor, tensor)"}});
  Floats two(*functions.device, hal::ElementType::kF32, {2}, {0, 0});
  for (const float first : {1.0f, 10.0f}) {
    Floats x(*functions.device, hal::ElementType::kF32, {2}, {first, 2});
    ASSERT_OK(functions.call("keep_tensor", {x.value()}));
    ASSERT_OK(functions.call("twice", {x.value(), two.value()}));
    EXPECT_THAT(two.read(*functions.device), testing::ElementsAre(2 * first, 4));
    ASSERT_OK(functions.call("keep_tensor", {two.value()}));  // The one that was kept goes.
    EXPECT_TRUE(x.view->buffer()->has_one_owner());
    const auto sum = functions.call("kept_sum", {});
    ASSERT_OK(sum);
    EXPECT_EQ((*sum)[0].f64, 2 * first + 4);
  }
}

TEST(LibraryModuleTest, ATensorThatComesBackIsTheSameView) {
  Functions functions({{"same", "(tensor) -> tensor"}, {"keep", "(object) -> tensor"}});
  Floats x(*functions.device, hal::ElementType::kF32, {2}, {1, 2});
  const auto same = functions.call("same", {x.value()});
  ASSERT_OK(same);
  const OwnedResult result((*same)[0]);
  EXPECT_EQ(unwrap<hal::BufferView>(result.object), x.view.get());
  for (const size_t rank : {0u, 6u, 7u, 9u}) {  // Extents in place and not.
    Floats y(*functions.device, hal::ElementType::kF32, std::vector<int64_t>(rank, 1), {5});
    const auto again = functions.call("same", {y.value()});
    ASSERT_OK(again);
    EXPECT_EQ(unwrap<hal::BufferView>(OwnedResult((*again)[0]).object), y.view.get());
  }
}

// Threads share what goes around.
TEST(LibraryModuleTest, ThreadsLendAtOnce) {
  const std::vector<modules::Parameter> parameters = {{"address_of", "(tensor) -> i64"}};
  Functions functions(parameters);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Floats x(*functions.device, hal::ElementType::kF32, {2}, {1, 2});
      for (int round = 0; round < 500; ++round) {
        const auto address = functions.call("address_of", {x.value()});
        ASSERT_OK(address);
        EXPECT_EQ(static_cast<uint64_t>((*address)[0].i64), x.view->buffer()->location().address);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(LibraryModuleTest, NewTensorsBelongToTheDeviceOfAnArgument) {
  Functions functions({{"filled_like", "(view, f64) -> tensor"}, {"filled", "(i64, f64) -> tensor"}});
  Floats x(*functions.device, hal::ElementType::kF32, {3}, {0, 0, 0});
  const auto made = functions.call("filled_like", {x.value(), Value::of(2.5)});
  ASSERT_OK(made);
  const OwnedResult result((*made)[0]);
  EXPECT_THAT(Floats::read_view<float>(*functions.device, *unwrap<hal::BufferView>(result.object)),
              testing::ElementsAre(2.5f, 2.5f, 2.5f));
  EXPECT_FAILS(functions.call("filled", {Value::of(int64_t{3}), Value::of(2.5)}), StatusCode::kInvalidArgument,
               "no argument says on which device");
}

TEST(LibraryModuleTest, ArraysAreSeveralResults) {
  Functions functions({{"pair", "(i64) -> (i64, f64)"}, {"half", "(f64) -> (f64, f64)"}});
  const auto pair = functions.call("pair", {Value::of(int64_t{7})});
  ASSERT_OK(pair);
  EXPECT_EQ((*pair)[0].i64, 7);
  EXPECT_EQ((*pair)[1].f64, 3.5);
  EXPECT_FAILS(functions.call("half", {Value::of(7.0)}), StatusCode::kInvalidArgument, "2 results: an array");
}

TEST(LibraryModuleTest, ObjectsPassThrough) {
  Functions functions(
      {{"keep", "(object) -> object"}, {"nothing", "(object) -> object"}, {"greet", "(object) -> object"}});
  const auto blob = sdk::Blob::copy("an object that is longer than seven bytes");
  const auto held = functions.call("greet", {ref_of(blob.get())});
  ASSERT_OK(held);
  const OwnedResult first((*held)[0]);
  ASSERT_NE(sdk::cast<HeldObject>(first.object), nullptr);
  const auto again = functions.call("keep", {ref_of(first.object)});
  ASSERT_OK(again);
  const OwnedResult second((*again)[0]);
  EXPECT_EQ(sdk::cast<HeldObject>(second.object)->value().object, sdk::cast<HeldObject>(first.object)->value().object);
  const auto none = functions.call("nothing", {ref_of(nullptr)});
  ASSERT_OK(none);
  EXPECT_EQ((*none)[0].ref, nullptr);
}

constexpr int64_t kSamples = 16;  // functions.cpp

// What has no object behind it, such as a short str, is an object of a program as a long one is.
TEST(LibraryModuleTest, ValuesOfEveryKindPassThrough) {
  Functions functions(
      {{"sample", "(i64) -> object"}, {"is_sample", "(i64, object) -> bool"}, {"keep", "(object) -> object"}});
  for (int64_t which = 0; which < kSamples; ++which) {
    const auto made = functions.call("sample", {Value::of(which)});
    ASSERT_OK(made) << which;
    const OwnedResult first((*made)[0]);
    const auto kept = functions.call("keep", {ref_of(first.object)});
    ASSERT_OK(kept) << which;
    const OwnedResult second((*kept)[0]);
    for (int64_t other = 0; other < kSamples; ++other) {
      const auto same = functions.call("is_sample", {Value::of(other), ref_of(second.object)});
      ASSERT_OK(same) << which;
      EXPECT_EQ((*same)[0].i32, which == other) << which << " " << other;
    }
  }
}

// A caller that offers a function of a program to take an object from it keeps it.
TEST(LibraryModuleTest, WhatMayBeTakenStaysTheCallers) {
  const auto runtime = *Runtime::open(BATON_TEST_TVM_FFI);
  const auto bytes = bytecode::assemble("module @m\nexport func @identity(%x: ref) -> ref {\n  return\n}\n");
  ASSERT_OK(bytes);
  auto module = vm::BytecodeModule::load(bytecode::ModuleBytes::copy(*bytes));
  ASSERT_OK(module);
  const auto program = Program::make(runtime, {.modules = {*std::move(module)}, .device = "local-sync"});
  ASSERT_OK(program);
  AnyObject* const function = (*program)->function("identity").value();
  Any text = any_of_bytes(*runtime, Kind::kString, "longer than seven bytes").value();
  AnyObject* place = text.object;
  Any movable, result;
  movable.type_index = kMovable;
  movable.pointer = &place;
  ASSERT_EQ(runtime->function_call(function, &movable, 1, &result), 0);
  EXPECT_EQ(result.object, text.object);
  EXPECT_EQ(place, text.object);
  runtime->drop(result);
  place = nullptr;  // Somebody took it.
  ASSERT_EQ(runtime->function_call(function, &movable, 1, &result), 0);
  EXPECT_EQ(result.type_index, kNone);
  runtime->drop(text);
  runtime->release(function);
}

TEST(LibraryModuleTest, CommandsTakeValuesOfEveryKind) {
  Commands functions({{"sample", "(i64) -> object"}, {"note_sample", "command(view, i64, object)"}});
  for (int64_t which = 0; which < kSamples; ++which) {
    Floats x(*functions.device, hal::ElementType::kF32, {1}, {0});
    Result<Ref<hal::Recording>> recording = failure(StatusCode::kUnknown, "none");
    {
      const auto made = functions.call("sample", {Value::of(which)});
      ASSERT_OK(made) << which;
      const OwnedResult value((*made)[0]);  // The recording keeps it.
      recording = functions.record("note_sample", {{0}}, {Value::of(which), ref_of(value.object)});
    }
    ASSERT_OK(recording) << which;
    for (int execution = 0; execution < 2; ++execution) ASSERT_OK(functions.execute(**recording, {&x}));
    EXPECT_THAT(x.read(*functions.device), testing::ElementsAre(1)) << which;
  }
}

TEST(LibraryModuleTest, ErrorsComeWithTheirKindAndTheirTrace) {
  Functions functions({{"fail", "(i64)"}, {"half", "(string) -> f64"}, {"twice", "(view, view)"}});
  EXPECT_FAILS(functions.call("fail", {Value::of(int64_t{0})}), StatusCode::kInvalidArgument,
               "ValueError: the number is 0");
  EXPECT_FAILS(functions.call("fail", {Value::of(int64_t{1})}), StatusCode::kOutOfRange, "IndexError: the number is 1");
  const auto failed = functions.call("fail", {Value::of(int64_t{2})});
  EXPECT_FAILS(failed, StatusCode::kInternal, "RuntimeError: the number is 2");
  EXPECT_THAT(std::string(failed.error().message()), testing::HasSubstr("functions.cpp\", line"));
  EXPECT_THAT(std::string(failed.error().message()), testing::HasSubstr("in TVM-FFI function 'functions.fail'"));
  EXPECT_THAT(std::string(failed.error().message()), testing::Not(testing::HasSubstr("baton::modules::tvm_ffi::")));
  EXPECT_FAILS(functions.call("half", {ref_of(sdk::Blob::copy("3").get())}), StatusCode::kInvalidArgument, "TypeError");
  EXPECT_FAILS(functions.call("twice", {ref_of(sdk::Blob::copy("3").get()), ref_of(nullptr)}),
               StatusCode::kInvalidArgument, "");
}

TEST(LibraryModuleTest, WhatAProgramImportsSaysWhatItIs) {
  auto bytes = bytecode::assemble(R"(
module @user
import @functions.half(f64) -> f64
import optional @functions.missing(f64) -> f64
export func @main(%x: f64) -> f64 {
  call.import @functions.half, %v0, %r0
  return
}
)");
  ASSERT_OK(bytes);
  const auto user = vm::BytecodeModule::load(bytecode::ModuleBytes::copy(*bytes));
  ASSERT_OK(user);
  const Ref<const vm::Module> importers[] = {nullptr, *user};
  const PluginReference reference = {
      .path = kLibrary, .entry = BATON_MODULE_QUERY_SYMBOL, .parameters = {{"runtime", BATON_TEST_TVM_FFI}}};
  const auto module = load_plugin(reference, importers);
  ASSERT_OK(module);
  EXPECT_EQ((*module)->export_count(), 1u);
  const Ref<const vm::Module> all[] = {*module, *user};
  const auto program = vm::Program::link(all);
  ASSERT_OK(program);
  const auto context = vm::Context::make(*program);
  ASSERT_OK(context);
  Value result;
  const Value argument = Value::of(5.0);
  ASSERT_OK(vm::Invocation(*context).invoke_slots(*(*context)->find_function("main"), {&argument, 1}, {&result, 1}));
  EXPECT_EQ(result.f64, 2.5);
}

TEST(LibraryModuleTest, WhatIsMissingIsNamed) {
  auto bytes = bytecode::assemble("module @user\nimport @functions.hlf(f64) -> f64\n");
  ASSERT_OK(bytes);
  const auto user = vm::BytecodeModule::load(bytecode::ModuleBytes::copy(*bytes));
  ASSERT_OK(user);
  const Ref<const vm::Module> importers[] = {*user};
  const PluginReference reference = {
      .path = kLibrary, .entry = BATON_MODULE_QUERY_SYMBOL, .parameters = {{"runtime", BATON_TEST_TVM_FFI}}};
  const auto module = load_plugin(reference, importers);
  EXPECT_FAILS(module, StatusCode::kNotFound, "'half'");
}

TEST(LibraryModuleTest, WrongParametersAreNamed) {
  EXPECT_FAILS(load({{"nme", "x"}}), StatusCode::kInvalidArgument, "'nme' is neither name, runtime nor a function");
  EXPECT_FAILS(load({{"hlf", "(f64) -> f64"}}), StatusCode::kInvalidArgument, "'half'");
  EXPECT_FAILS(load({{"half", "(f65)"}}), StatusCode::kInvalidArgument, "'f65' is no word");
  EXPECT_FAILS(load({{"name", "no name"}}), StatusCode::kInvalidArgument, "'no name'");
  EXPECT_OK(load({{"name", "other"}}));
}

TEST(LibraryModuleTest, AFileOfAnyNameIsAModule) {
  const std::string folder = testing_support::temporary_path("libraries");
  std::filesystem::create_directory(folder);
  for (const auto& [file, name] :
       {std::pair("add_one.so", "add_one"), std::pair("libadd_one.so", "add_one"),
        std::pair("libadd_one.so.1.2", "add_one"), std::pair("lib.so", "lib"), std::pair("my-lib.so", "my_lib"),
        std::pair("3d.so", "_3d"), std::pair("lib3d.so", "_3d"), std::pair("a.b.so", "a_b"),
        std::pair("library.so", "rary")}) {
    const std::string path = folder + "/" + file;
    std::filesystem::create_symlink(kLibrary, path);
    const auto module = load_plugin(
        {.path = path, .entry = BATON_MODULE_QUERY_SYMBOL, .parameters = {{"runtime", BATON_TEST_TVM_FFI}}}, {});
    ASSERT_OK(module);
    EXPECT_EQ((*module)->name(), name) << file;
  }
  std::filesystem::remove_all(folder);
}

TEST(LibraryModuleTest, AnotherVersionIsASentence) {
  const auto open = [](const char* path) { return Runtime::open(path); };
  EXPECT_FAILS(open(BATON_TEST_NEW_TVM_FFI), StatusCode::kFailedPrecondition,
               "TVM-FFI's library is of version 0.2.7; versions 0.1 are understood.");
  EXPECT_FAILS(open(BATON_TEST_SMALL_TVM_FFI), StatusCode::kFailedPrecondition, "TVM-FFI's library has no 'TVMFFI");
  EXPECT_FAILS(open("/nowhere/libtvm_ffi.so"), StatusCode::kUnavailable, "pip install apache-tvm-ffi");
  EXPECT_OK(open(BATON_TEST_TVM_FFI));
}

// ---- Commands -------------------------------------------------------------------------------------------------------

TEST(LibraryCommandTest, IsExecutedWithTheTableOfEachTime) {
  Commands commands(std::vector<modules::Parameter>{{"twice", "command(view, tensor)"}});
  const auto recording = commands.record("twice", {{0}, {1}});
  ASSERT_OK(recording);
  Floats x(*commands.device, hal::ElementType::kF32, {2}, {1, 2}),
      y(*commands.device, hal::ElementType::kF32, {2}, {0, 0}),
      z(*commands.device, hal::ElementType::kF32, {2}, {0, 0});
  ASSERT_OK(commands.execute(**recording, {&x, &y}));
  ASSERT_OK(commands.execute(**recording, {&y, &z}));
  EXPECT_THAT(y.read(*commands.device), testing::ElementsAre(2, 4));
  EXPECT_THAT(z.read(*commands.device), testing::ElementsAre(4, 8));
}

TEST(LibraryCommandTest, ShapesAreWhatWasSaid) {
  // The result of the function is not looked at; a failure in it is.
  Commands commands(
      {{"describe_shape", "command(f32[?x2])"}, {"fail", "command(i64)"}, {"twice", "command(f32[2x?], f32[8])"}});
  Floats x(*commands.device, hal::ElementType::kF32, {2, 2}, {1, 2, 3, 4}),
      three(*commands.device, hal::ElementType::kF32, {3}, {1, 2, 3}),
      eight(*commands.device, hal::ElementType::kF32, {8}, std::vector<float>(8));
  const auto shaped = commands.record("describe_shape", {{0, hal::ElementType::kF32, 2}});
  ASSERT_OK(shaped);
  EXPECT_OK(commands.execute(**shaped, {&x}));
  EXPECT_FAILS(commands.execute(**shaped, {&three}), StatusCode::kInvalidArgument, "A range of 12 bytes");
  EXPECT_OK(commands.execute(**shaped, {&x}));
  const auto two = commands.record("twice", {{0, hal::ElementType::kF32, 2}, {1}});
  ASSERT_OK(two);
  EXPECT_OK(commands.execute(**two, {&x, &eight}));
  EXPECT_FAILS(commands.execute(**two, {&x, &three}), StatusCode::kInvalidArgument, "A range of 12 bytes");
  const auto fails = commands.record("fail", {}, {Value::of(int64_t{1})});
  ASSERT_OK(fails);
  EXPECT_FAILS(commands.execute(**fails, {}), StatusCode::kOutOfRange, "IndexError: the number is 1");
}

// TVM-FFI's own handlers know only std::exception.
TEST(LibraryModuleTest, WhateverIsThrownIsAFailure) {
  const std::pair<int64_t, const char*> thrown[] = {{0, "InternalError: a runtime error"},
                                                    {1, "It threw: a literal"},
                                                    {2, "It threw: a string"},
                                                    {3, "It threw: something that is no std::exception"},
                                                    {4, "InternalError: what holds another"}};
  for (const char* words : {"(i64)", "(i64) -> object"}) {  // Numbers alone, and any call.
    Functions functions({{"throw_it", words}, {"throw_later", "(view, i64)"}});
    Floats x(*functions.device, hal::ElementType::kF32, {1}, {1});
    for (const auto& [kind, message] : thrown) {
      EXPECT_FAILS(functions.call("throw_it", {Value::of(kind)}), StatusCode::kInternal, message);
      EXPECT_FAILS(functions.call("throw_later", {x.value(), Value::of(kind)}), StatusCode::kInternal, message);
    }
  }
  Commands commands(std::vector<modules::Parameter>{{"throw_later", "command(view, i64)"}});
  Floats x(*commands.device, hal::ElementType::kF32, {1}, {1});
  for (const auto& [kind, message] : thrown) {
    const auto recording = commands.record("throw_later", {{0}}, {Value::of(kind)});
    ASSERT_OK(recording);
    EXPECT_FAILS(commands.execute(**recording, {&x}), StatusCode::kInternal, message);
  }
}

TEST(LibraryCommandTest, WhatTheProgramDoesNotTellIsAskedFor) {
  Commands commands({{"twice", "command(view, view)"}, {"describe_shape", "command(f32[?])"}});
  EXPECT_FAILS(commands.record("twice", {{0, hal::ElementType::kNone}, {1}}), StatusCode::kInvalidArgument,
               "Its element type is not told by the program; say it as command(f32[?])");
  EXPECT_FAILS(commands.record("twice", {{0, hal::ElementType::kF32, 2}, {1}}), StatusCode::kInvalidArgument,
               "Its shape is not told by the program; say it as command(f32[?x4])");
  EXPECT_FAILS(commands.record("describe_shape", {{0, hal::ElementType::kF64}}), StatusCode::kInvalidArgument,
               "It takes elements of f32, and the program has f64");
  EXPECT_FAILS(commands.record("describe_shape", {{0, hal::ElementType::kF32, 1, -4}}), StatusCode::kInvalidArgument,
               "offset -4");
  EXPECT_OK(commands.record("twice", {{0}, {1}}));
}

}  // namespace
}  // namespace baton::modules::tvm_ffi
