// Goal: a descriptor is taken or refused with a sentence that names the module. Method: one right descriptor, spoiled
// in one way a test.
#include "modules/native_module.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace baton::modules {
namespace {

baton_status* do_nothing(baton_call*) { return nullptr; }

int destroyed = 0;

// A right descriptor, and what it points to; `make()` asks for its module.
struct Descriptor : baton_module_descriptor {
  Descriptor() : baton_module_descriptor{} {
    struct_size = sizeof(baton_module_descriptor);
    abi_version = BATON_ABI_VERSION;
    name = "tested";
    version = 7;
    export_stride = sizeof(baton_export);
    destroy = [](void*) { ++destroyed; };
    destroyed = 0;
  }
  Result<Ref<const vm::Module>> make() {
    baton_module_descriptor::exports = functions.data();
    export_count = functions.size();
    baton_module_descriptor::types = provided.data();
    type_count = provided.size();
    return NativeModule::make(this);
  }
  std::string error() {
    auto module = make();
    return module ? "no error" : std::string(module.error().message());
  }

  std::vector<baton_export> functions = {{"zero", "v_v", do_nothing, nullptr, 0},
                                         {"string.print", "r<custom.string>_v", do_nothing, this, 0},
                                         {"add", "ii_i", do_nothing, nullptr, 0}};
  std::vector<const baton_object_type*> provided;
};

TEST(NativeModule, OffersItsExports) {
  Descriptor descriptor;
  auto module = descriptor.make();
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  EXPECT_EQ((*module)->name(), "tested");
  EXPECT_EQ((*module)->version(), 7u);
  ASSERT_EQ((*module)->export_count(), 3u);
  const auto print = (*module)->find_export("string.print");
  ASSERT_EQ(print, 1u);
  EXPECT_EQ((*module)->export_at(*print).signature, "r<custom.string>_v");
  EXPECT_EQ((*module)->native_function(*print).data, &descriptor);
  EXPECT_EQ((*module)->find_export("string"), std::nullopt);
  EXPECT_EQ((*module)->find_export("zzz"), std::nullopt);
}

TEST(NativeModule, DestroysItsDescriptorOnce) {
  Descriptor descriptor;
  {
    auto module = descriptor.make();
    const Ref<const vm::Module> second = *module;
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(NativeModule, DestroysADescriptorThatItRefuses) {
  Descriptor descriptor;
  descriptor.functions[0].body = nullptr;
  EXPECT_EQ(descriptor.error(), "Module 'tested' has no body for its function 'zero'.");
  EXPECT_EQ(destroyed, 1);
}

TEST(NativeModule, TouchesNothingOfAnotherVersion) {
  Descriptor descriptor;
  descriptor.abi_version = 9;
  EXPECT_EQ(descriptor.error(),
            "The module is built for version 9 of the module interface, and this program provides versions 1 to 4.");
  descriptor.abi_version = 0;
  EXPECT_NE(descriptor.error().find("version 0"), std::string::npos);
  EXPECT_EQ(destroyed, 0);
}

TEST(NativeModule, RefusesSizesThatDoNotFitTheVersion) {
  Descriptor descriptor;
  descriptor.struct_size = 40;
  EXPECT_EQ(descriptor.error(),
            "The module's descriptor is too short (40 bytes) for version 4 of the module interface (96).");
  descriptor.struct_size = 1000;
  EXPECT_EQ(descriptor.error(),
            "The module's descriptor is too long (1000 bytes) for version 4 of the module interface (96).");
  EXPECT_EQ(destroyed, 0);
}

TEST(NativeModule, ReadsExportsOfItsOwnStride) {
  struct LongerExport : baton_export {
    uint64_t of_a_later_version;
  };
  Descriptor descriptor;
  const LongerExport longer[] = {{{"a", "v_v", do_nothing, nullptr, 0}, 1}, {{"b", "v_i", do_nothing, nullptr, 0}, 2}};
  baton_module_descriptor view = descriptor;
  view.exports = longer;
  view.export_count = 2;
  view.export_stride = sizeof(LongerExport);
  auto module = NativeModule::make(&view);
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  EXPECT_EQ((*module)->export_at(1).signature, "v_i");
}

TEST(NativeModule, RefusesBadHeaders) {
  Descriptor descriptor;
  descriptor.export_stride = 8;
  EXPECT_EQ(descriptor.error(), "Module 'tested' has exports of 8 bytes, and they take 40 or more in steps of 8.");
  descriptor = {};
  descriptor.name = nullptr;
  EXPECT_EQ(descriptor.error(), "The module has no name.");
  descriptor = {};
  descriptor.name = "a.b";
  EXPECT_EQ(descriptor.error(), "Module 'a.b' has a name that is not an identifier.");
}

TEST(NativeModule, RefusesBadFunctions) {
  Descriptor descriptor;
  descriptor.functions[1].name = "string..print";
  EXPECT_EQ(
      descriptor.error(),
      "Module 'tested' has a function (export 1) whose name 'string..print' is not made of identifiers and dots.");
  descriptor = {};
  descriptor.functions[2].name = "zero";
  EXPECT_EQ(descriptor.error(), "Module 'tested' exports 'zero' twice.");
  descriptor = {};
  descriptor.functions[0].signature = nullptr;
  EXPECT_EQ(descriptor.error(), "Module 'tested' has no signature for its function 'zero'.");
  descriptor = {};
  descriptor.functions[0].signature = "i_r<";
  EXPECT_NE(descriptor.error().find("in the signature of function 'zero' of module 'tested'"), std::string::npos);
}

TEST(NativeModule, RefusesBadTypes) {
  const auto destroy = [](baton_object*) {};
  const baton_object_type good = {sizeof(baton_object_type), 0, "custom.string", destroy, nullptr};
  Descriptor descriptor;
  descriptor.provided = {&good, &good};
  EXPECT_EQ(descriptor.error(), "Module 'tested' provides the type 'custom.string' twice.");

  baton_object_type immortal = good;
  immortal.destroy = nullptr;
  descriptor.provided = {&immortal};
  EXPECT_EQ(descriptor.error(),
            "Module 'tested' provides the type 'custom.string' without a way to destroy its objects.");

  baton_object_type cut = good;
  cut.struct_size = 8;
  descriptor.provided = {&good, &cut};
  EXPECT_EQ(descriptor.error(), "Module 'tested' provides a type (1) without a proper size and name.");
}

TEST(NativeModule, PassesOnWhyItsStateCannotBeMade) {
  Descriptor descriptor;
  descriptor.create_state = [](void*, const baton_allocator*, void**) -> baton_status* {
    return reinterpret_cast<baton_status*>(failure(StatusCode::kUnavailable, "No device.").release());
  };
  auto module = descriptor.make();
  ASSERT_TRUE(module.has_value());
  auto state = (*module)->make_state(system_allocator());
  ASSERT_FALSE(state.has_value());
  EXPECT_EQ(state.error().to_string(), "UNAVAILABLE; No device.");
}

// This program links no devices; with them see sdk/recording_test.cpp.
TEST(NativeModule, CannotHaveCommandsWithoutDevices) {
  const auto body = [](baton_call*) -> baton_status* { return nullptr; };
  const baton_export exported = {"record", "r<hal.command_buffer>_v", body, nullptr, BATON_TRAIT_COMMAND};
  baton_module_descriptor descriptor = {};
  descriptor.struct_size = sizeof(descriptor);
  descriptor.abi_version = 2;
  descriptor.name = "blas";
  descriptor.export_stride = sizeof(baton_export);
  descriptor.exports = &exported;
  descriptor.export_count = 1;
  const auto module = NativeModule::make(&descriptor);
  ASSERT_FALSE(module.has_value());
  EXPECT_EQ(module.error().message(), "Module 'blas' records commands ('record'), and this program has no devices.");
}

}  // namespace
}  // namespace baton::modules
