#include "compiler-lite/dialects/vm/executable.hpp"

namespace baton::compiler_lite::vm {

using namespace mlir;  // NOLINT: this file is about MLIR's attributes.

namespace {

using Fields = NamedAttrList;

// "array<i64: 64, 1, 1, 4096>": the workgroup's size, then bytes of local memory.
Attribute launch_attribute(Builder& builder, const bytecode::LaunchRow& launch) {
  const uint32_t(&size)[3] = launch.workgroup_size;
  return builder.getDenseI64ArrayAttr({size[0], size[1], size[2], launch.local_memory_bytes});
}

bytecode::LaunchRow launch_row(Attribute attribute) {
  const ArrayRef<int64_t> numbers = cast<DenseI64ArrayAttr>(attribute).asArrayRef();
  bytecode::LaunchRow launch;
  for (size_t i = 0; i < 3; ++i) launch.workgroup_size[i] = static_cast<uint32_t>(numbers[i]);
  launch.local_memory_bytes = static_cast<uint32_t>(numbers[3]);
  return launch;
}

Attribute entry_point_attribute(Builder& builder, const bytecode::EntryPointRow& row) {
  Fields fields;
  fields.append("name", builder.getStringAttr(row.name));
  if (row.constants != bytecode::kNoIndex) fields.append("constants", builder.getI64IntegerAttr(row.constants));
  SmallVector<int8_t> bindings(row.bindings.begin(), row.bindings.end());
  if (!bindings.empty()) fields.append("bindings", builder.getDenseI8ArrayAttr(bindings));
  if (row.launch) fields.append("launch", launch_attribute(builder, *row.launch));
  SmallVector<Attribute> attributes;
  for (const bytecode::LaunchAttributeRow& each : row.attributes) {
    attributes.push_back(
        builder.getDictionaryAttr({builder.getNamedAttr("name", builder.getStringAttr(each.name)),
                                   builder.getNamedAttr("value", builder.getI64IntegerAttr(each.value))}));
  }
  if (!attributes.empty()) fields.append("attributes", builder.getArrayAttr(attributes));
  return fields.getDictionary(builder.getContext());
}

Attribute variant_attribute(Builder& builder, const bytecode::VariantRow& row,
                            const ExecutableContents::Variant& variant) {
  Fields fields;
  fields.append("format", builder.getStringAttr(row.format));
  if (!row.target.empty()) fields.append("target", builder.getStringAttr(row.target));
  const auto bytes = RankedTensorType::get({static_cast<int64_t>(variant.code.size())}, builder.getI8Type());
  fields.append("code", DenseElementsAttr::getFromRawBuffer(bytes, variant.code));
  if (!variant.condition.empty()) {
    fields.append("condition", FlatSymbolRefAttr::get(builder.getContext(), variant.condition));
  }
  if (row.constants != 0) fields.append("constants", builder.getI64IntegerAttr(row.constants));
  SmallVector<Attribute> launches;
  for (const bytecode::LaunchRow& launch : row.launches) launches.push_back(launch_attribute(builder, launch));
  if (!launches.empty()) fields.append("launches", builder.getArrayAttr(launches));
  return fields.getDictionary(builder.getContext());
}

std::string text_of(DictionaryAttr fields, StringRef name) {
  const auto text = fields.getAs<StringAttr>(name);
  return text ? text.str() : std::string();
}
uint32_t number_of(DictionaryAttr fields, StringRef name, uint32_t otherwise) {
  const auto number = fields.getAs<IntegerAttr>(name);
  return number ? static_cast<uint32_t>(number.getInt()) : otherwise;
}
ArrayRef<Attribute> list_of(DictionaryAttr fields, StringRef name) {
  const auto list = fields.getAs<ArrayAttr>(name);
  return list ? list.getValue() : ArrayRef<Attribute>();
}

bytecode::EntryPointRow read_entry_point(DictionaryAttr fields) {
  bytecode::EntryPointRow row;
  row.name = text_of(fields, "name");
  row.constants = number_of(fields, "constants", bytecode::kNoIndex);
  if (const auto bindings = fields.getAs<DenseI8ArrayAttr>("bindings")) {
    for (const int8_t access : bindings.asArrayRef()) row.bindings.push_back(static_cast<uint8_t>(access));
  }
  if (const Attribute launch = fields.get("launch")) row.launch = launch_row(launch);
  for (const Attribute each : list_of(fields, "attributes")) {
    const auto attribute = cast<DictionaryAttr>(each);
    row.attributes.push_back({text_of(attribute, "name"), attribute.getAs<IntegerAttr>("value").getInt()});
  }
  return row;
}

void read_variant(DictionaryAttr fields, ExecutableContents& contents) {
  bytecode::VariantRow row;
  row.format = text_of(fields, "format");
  row.target = text_of(fields, "target");
  row.constants = number_of(fields, "constants", 0);
  for (const Attribute each : list_of(fields, "launches")) row.launches.push_back(launch_row(each));
  ExecutableContents::Variant variant;
  const auto code = fields.getAs<DenseElementsAttr>("code");
  for (const llvm::APInt& byte : code.getValues<llvm::APInt>()) {
    variant.code.push_back(static_cast<char>(byte.getZExtValue()));
  }
  if (const auto condition = fields.getAs<FlatSymbolRefAttr>("condition"))
    variant.condition = condition.getValue().str();
  contents.row.variants.push_back(std::move(row));
  contents.variants.push_back(std::move(variant));
}

}  // namespace

void write_executable(OpBuilder& builder, Location location, const ExecutableContents& contents) {
  const bytecode::ExecutableRow& row = contents.row;
  SmallVector<Attribute> entry_points, variants;
  for (const bytecode::EntryPointRow& each : row.entry_points) {
    entry_points.push_back(entry_point_attribute(builder, each));
  }
  for (size_t i = 0; i < row.variants.size(); ++i) {
    variants.push_back(variant_attribute(builder, row.variants[i], contents.variants[i]));
  }
  const StringAttr registered = row.registered_name.empty() ? StringAttr() : builder.getStringAttr(row.registered_name);
  builder.create<ExecutableOp>(location, builder.getStringAttr("private"), builder.getStringAttr(row.name), registered,
                               builder.getArrayAttr(entry_points), builder.getArrayAttr(variants));
}

ExecutableContents read_executable(ExecutableOp op) {
  ExecutableContents contents;
  contents.row.name = op.getSymName().str();
  contents.row.registered_name = op.getRegisteredName().value_or("").str();
  for (const Attribute each : op.getEntryPoints()) {
    contents.row.entry_points.push_back(read_entry_point(cast<DictionaryAttr>(each)));
  }
  for (const Attribute each : op.getVariants()) read_variant(cast<DictionaryAttr>(each), contents);
  return contents;
}

}  // namespace baton::compiler_lite::vm
