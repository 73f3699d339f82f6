// The dialect `hal`: devices, executables for targets, and the boundary where tensors become buffer views.
#ifndef BATON_COMPILER_LITE_DIALECTS_HAL
#define BATON_COMPILER_LITE_DIALECTS_HAL

include "compiler-lite/dialects/base.td"

def Hal_Dialect : Dialect {
  let name = "hal";
  let cppNamespace = "::baton::compiler_lite::hal";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void register_attributes_and_types();
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef name) const override;
  }];
}
class Hal_Op<string mnemonic, list<Trait> traits = []> : Op<Hal_Dialect, mnemonic, traits>;

// Types ----------------------------------------------------------------------------------------------------------

class Hal_Type<string name, string type_mnemonic> : TypeDef<Hal_Dialect, name> {
  let mnemonic = type_mnemonic;
}
def Hal_AllocatorType : Hal_Type<"Allocator", "allocator">;
def Hal_BufferType : Hal_Type<"Buffer", "buffer">;
def Hal_BufferViewType : Hal_Type<"BufferView", "buffer_view">;
def Hal_ChannelType : Hal_Type<"Channel", "channel">;
def Hal_CommandBufferType : Hal_Type<"CommandBuffer", "command_buffer">;
def Hal_DeviceType : Hal_Type<"Device", "device">;
def Hal_EventType : Hal_Type<"Event", "event">;
def Hal_ExecutableType : Hal_Type<"Executable", "executable">;
def Hal_FenceType : Hal_Type<"Fence", "fence">,
                    BuildableType<"$_builder.getType<::baton::compiler_lite::hal::FenceType>()">;
def Hal_FileType : Hal_Type<"File", "file">;
def Hal_RecordingType : Hal_Type<"Recording", "recording">;
def Hal_KeptRecordingsType : Hal_Type<"KeptRecordings", "kept_recordings">;

// Attributes -----------------------------------------------------------------------------------------------------

class Hal_Attr<string name, string attr_mnemonic, list<Trait> traits = []> : AttrDef<Hal_Dialect, name, traits> {
  let mnemonic = attr_mnemonic;
}

def Hal_ExecutableTargetAttr : Hal_Attr<"ExecutableTarget", "executable.target"> {
  let summary = "backend, binary format, configuration";
  let parameters = (ins "::mlir::StringAttr":$backend, "::mlir::StringAttr":$format,
                    OptionalParameter<"::mlir::DictionaryAttr">:$configuration);
  let assemblyFormat = "`<` $backend `,` $format (`,` $configuration^)? `>`";
  let extraClassDeclaration = [{
    // Whether an object for this target also serves `specific`: same backend and format, and everything that this
    // configuration says stands there too.
    bool is_generic_of(ExecutableTargetAttr specific) const;
  }];
}

def Hal_DeviceTargetAttr : Hal_Attr<"DeviceTarget", "device.target", [TypedAttrInterface]> {
  let summary = "a kind of device, and the executable targets that it takes";
  let parameters = (ins "::mlir::StringAttr":$device, OptionalParameter<"::mlir::DictionaryAttr">:$configuration,
                    OptionalArrayRefParameter<"ExecutableTargetAttr">:$targets);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{ ::mlir::Type getType() const; }];
}

// Which device of the program: a global of the type hal.device.
class Hal_PlaceAttr<string name, string attr_mnemonic> : Hal_Attr<name, attr_mnemonic> {
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$device, OptionalParameter<"::mlir::ArrayAttr">:$queues);
  let assemblyFormat = "`<` $device (`,` $queues^)? `>`";
}
def Hal_DeviceAffinityAttr : Hal_PlaceAttr<"DeviceAffinity", "device.affinity">;
def Hal_DevicePromiseAttr : Hal_PlaceAttr<"DevicePromise", "device.promise"> {
  let summary = "an affinity whose device may be declared later";
}

def Hal_DeviceAliasAttr : Hal_Attr<"DeviceAlias", "device.alias", [TypedAttrInterface]> {
  let summary = "a device by the name of its kind, and its number among them";
  let parameters = (ins "::mlir::StringAttr":$device, OptionalParameter<"::std::optional<int64_t>">:$ordinal);
  let assemblyFormat = "`<` $device (`[` $ordinal^ `]`)? `>`";
  let extraClassDeclaration = [{ ::mlir::Type getType() const; }];
}

def Hal_DeviceOrdinalAttr : Hal_Attr<"DeviceOrdinal", "device.ordinal", [TypedAttrInterface]> {
  let summary = "a device by its number among the program's";
  let parameters = (ins "int64_t":$ordinal);
  let assemblyFormat = "`<` $ordinal `>`";
  let extraClassDeclaration = [{ ::mlir::Type getType() const; }];
}

def Hal_DeviceSelectAttr : Hal_Attr<"DeviceSelect", "device.select", [TypedAttrInterface]> {
  let summary = "the first of these that is there";
  let parameters = (ins "::mlir::ArrayAttr":$devices);
  let assemblyFormat = "`<` $devices `>`";
  let extraClassDeclaration = [{ ::mlir::Type getType() const; }];
}

def Hal_ExecutableObjectAttr : Hal_Attr<"ExecutableObject", "executable.object"> {
  let summary = "a file to find, or its bytes";
  let parameters = (ins "::mlir::StringAttr":$path, OptionalParameter<"::mlir::DenseIntElementsAttr">:$data);
  let hasCustomAssemblyFormat = 1;
}

def Hal_ExecutableObjectsAttr : Hal_Attr<"ExecutableObjects", "executable.objects"> {
  let summary = "objects for each target";
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$targets, ArrayRefParameter<"::mlir::ArrayAttr">:$objects);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    // The objects whose target is `target` or more generic; empty when there are none.
    ::llvm::SmallVector<ExecutableObjectAttr> objects_for(ExecutableTargetAttr target) const;
  }];
}

def Hal_PipelineBindingAttr : Hal_Attr<"PipelineBinding", "pipeline.binding"> {
  let parameters = (ins StringRefParameter<>:$kind, "bool":$read_only, "bool":$indirect);
  let hasCustomAssemblyFormat = 1;
}

def Hal_PipelineLayoutAttr : Hal_Attr<"PipelineLayout", "pipeline.layout"> {
  let summary = "push-constant words, bindings";
  let parameters = (ins "int64_t":$constants, OptionalArrayRefParameter<"PipelineBindingAttr">:$bindings,
                    OptionalParameter<"::mlir::StringAttr">:$flags);
  let hasCustomAssemblyFormat = 1;
}

def Hal_ABIConventionAttr : Hal_Attr<"ABIConvention", "abi.convention"> {
  let parameters = (ins StringRefParameter<>:$convention);
  let hasCustomAssemblyFormat = 1;
}

defvar TargetParam = FullAttr<"::baton::compiler_lite::hal::ExecutableTargetAttr", "executable target">;
defvar LayoutParam = FullAttr<"::baton::compiler_lite::hal::PipelineLayoutAttr", "pipeline layout">;
defvar ObjectsParam = FullAttr<"::baton::compiler_lite::hal::ExecutableObjectsAttr", "objects by target">;

// Executables ----------------------------------------------------------------------------------------------------

def Hal_ExecutableOp : Hal_Op<"executable", ContainerTraits<[Symbol]>.traits> {
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, UnitAttr:$lazy, SymbolNameAttr:$sym_name);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{
    custom<Visibility>($sym_visibility) (`lazy` $lazy^)? $sym_name attr-dict-with-keyword custom<Container>($body)
  }];
}

def Hal_ExecutableSourceOp : Hal_Op<"executable.source", ContainerTraits<[Symbol]>.traits> {
  let summary = "an executable without a target; each device target makes a variant of it";
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name,
                   OptionalAttr<ObjectsParam>:$objects);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{
    custom<Visibility>($sym_visibility) $sym_name attr-dict-with-keyword custom<Container>($body)
  }];
}

def Hal_ExecutableVariantOp : Hal_Op<"executable.variant", ContainerTraits<[Symbol]>.traits> {
  let summary = "an executable for one target: an inner module to compile, or external objects";
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name, TargetParam:$target,
                   OptionalAttr<ArrayAttr>:$objects, OptionalAttr<DictionaryAttr>:$sources);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{
    custom<Visibility>($sym_visibility) $sym_name `target` `(` $target `)` (`objects` `(` $objects^ `)`)?
    (`sources` `(` $sources^ `)`)? attr-dict-with-keyword custom<Container>($body)
  }];
}

def Hal_ExecutableExportOp : Hal_Op<"executable.export", [Symbol, IsolatedFromAbove]> {
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name, OptionalAttr<IndexAttr>:$ordinal,
                   LayoutParam:$layout, OptionalAttr<FlatSymbolRefAttr>:$condition_fallback);
  let regions = (region AnyRegion:$condition, AnyRegion:$workgroup_count);
  let assemblyFormat = [{
    custom<Visibility>($sym_visibility) $sym_name `` custom<Ordinal>($ordinal) `layout` `(` $layout `)`
    (`condition` `` custom<Condition>($condition)^)? (`fallback` `(` $condition_fallback^ `)`)?
    `` custom<CountAndAttributes>($workgroup_count, attr-dict)
  }];
}

def Hal_ExecutableConditionOp : Hal_Op<"executable.condition", [IsolatedFromAbove]> {
  let regions = (region AnyRegion:$body);
  let assemblyFormat = "`` custom<Condition>($body) attr-dict-with-keyword";
}

def Hal_ExecutableConstantBlockOp : Hal_Op<"executable.constant.block", [IsolatedFromAbove]> {
  let arguments = (ins TypeAttrOf<FunctionType>:$function_type, ArrayAttr:$keys);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
}

def Hal_ReturnOp : Hal_Op<"return", [Pure, ReturnLike, Terminator]> {
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

def Hal_DispatchExternOp : Hal_Op<"dispatch.extern", [AttrSizedOperandSegments, IsolatedFromAbove]> {
  let summary = "a dispatch and its external executable in one";
  let arguments = (ins StrAttr:$export_name, Variadic<Index>:$workload, Variadic<AnyType>:$arguments,
                   Variadic<Index>:$argument_dims, Variadic<Index>:$result_dims, TiedOperands:$tied_operands,
                   LayoutParam:$layout, ArrayAttr:$targets, DenseI64ArrayAttr:$target_ordinals, ArrayAttr:$target_objects);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region AnyRegion:$workgroup_count, VariadicRegion<AnyRegion>:$target_conditions);
  let hasCustomAssemblyFormat = 1;
}

// Inside kernels -------------------------------------------------------------------------------------------------

class Hal_WorkgroupOp<string what> : Hal_Op<"interface.workgroup." # what, [Pure]> {
  let arguments = (ins IndexAttr:$dimension, OptionalAttr<IndexAttr>:$upper_bound);
  let results = (outs Index:$result);
  let assemblyFormat = "`` custom<Dimension>($dimension) `` custom<UpperBound>($upper_bound) attr-dict `:` type($result)";
}
def Hal_InterfaceWorkgroupIDOp : Hal_WorkgroupOp<"id">;
def Hal_InterfaceWorkgroupCountOp : Hal_WorkgroupOp<"count">;
def Hal_InterfaceWorkgroupSizeOp : Hal_WorkgroupOp<"size">;

def Hal_InterfaceConstantLoadOp : Hal_Op<"interface.constant.load", [Pure]> {
  let summary = "a word of the push constants";
  let arguments = (ins LayoutParam:$layout, IndexAttr:$ordinal, OptionalAttr<IndexAttr>:$alignment,
                   OptionalAttr<ArrayAttr>:$values);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    `layout` `(` $layout `)` `` custom<Ordinal>($ordinal) `` custom<Alignment>($alignment) (`values` `(` $values^ `)`)?
    attr-dict `:` type($result)
  }];
}

def Hal_ExecutableConstantLoadOp : Hal_Op<"executable.constant.load", [Pure]> {
  let summary = "what a constant block of the executable computed under this key when the code was loaded";
  let arguments = (ins StrAttr:$key);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$key attr-dict `:` type($result)";
}

def Hal_InterfaceBindingSubspanOp : Hal_Op<"interface.binding.subspan", [AttrSizedOperandSegments, Pure]> {
  let summary = "a binding, from a byte offset on";
  let arguments = (ins LayoutParam:$layout, IndexAttr:$binding, OptionalAttr<IndexAttr>:$alignment,
                   Optional<Index>:$byte_offset, OptionalAttr<StrAttr>:$descriptor_flags, Variadic<Index>:$dynamic_dims);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    `layout` `(` $layout `)` `` custom<BindingOrdinal>($binding) `` custom<Alignment>($alignment)
    (`offset` `(` $byte_offset^ `)`)? (`flags` `(` custom<FlagWord>($descriptor_flags)^ `)`)? attr-dict `:`
    custom<ShapedType>(type($result), $dynamic_dims)
  }];
}

// The boundary ---------------------------------------------------------------------------------------------------

def Hal_TensorImportOp : Hal_Op<"tensor.import", [AttrSizedOperandSegments]> {
  let summary = "the storage of a buffer view as a tensor, after the fence; the view's type and shape are checked";
  let arguments = (ins Optional<Hal_FenceType>:$wait_fence, UnitAttr:$consume, AnyType:$source, Optional<Index>:$offset,
                   OptionalAttr<StrAttr>:$name, OptionalAttr<TypeAttr>:$target_encoding, Variadic<Index>:$target_dims,
                   OptionalAttr<AnyAttr>:$affinity);
  let results = (outs AnyRankedTensor:$target);
  let assemblyFormat = [{
    (`on` `(` $affinity^ `)`)? (`wait` `(` $wait_fence^ `)` `=` `` `>`)? (`consume` $consume^)? $source
    (`offset` `(` $offset^ `)`)? ($name^)? attr-dict `:` type($source) `->`
    custom<EncodedType>($target_encoding, type($target), $target_dims)
  }];
  let hasVerifier = 1;
}

def Hal_TensorExportOp : Hal_Op<"tensor.export", [Pure]> {
  let summary = "a buffer view over the storage of a tensor";
  let arguments = (ins AnyRankedTensor:$source, OptionalAttr<StrAttr>:$name, OptionalAttr<TypeAttr>:$source_encoding,
                   Variadic<Index>:$source_dims, OptionalAttr<AnyAttr>:$affinity);
  let results = (outs AnyType:$target);
  let assemblyFormat = [{
    (`on` `(` $affinity^ `)`)? $source ($name^)? attr-dict `:` custom<EncodedType>($source_encoding, type($source), $source_dims) `->`
    type($target)
  }];
}

def Hal_TensorBarrierOp : Hal_Op<"tensor.barrier"> {
  let summary = "signals the fence when all tensors are ready, and returns them";
  let arguments = (ins Variadic<AnyRankedTensor>:$sources, Hal_FenceType:$signal_fence);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `join` `` `(` ($sources^ `:` custom<SameTypes>(type($sources), type($results)))? `)` `=` `` `>` $signal_fence `:`
    type($signal_fence) attr-dict
  }];
}

def Hal_TensorAliasOp : Hal_Op<"tensor.alias", [AttrSizedOperandSegments]> {
  let summary = "gives a tensor the storage that the caller brought";
  let arguments = (ins Optional<Hal_FenceType>:$wait_fence, AnyRankedTensor:$source, Variadic<Index>:$source_dims,
                   AnyType:$storage, OptionalAttr<AnyAttr>:$affinity);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    (`on` `(` $affinity^ `)`)? (`wait` `(` $wait_fence^ `)` `=` `` `>`)? $source `:`
    custom<ShapedTypeTwice>(type($source), type($result), $source_dims) `to` $storage `:` type($storage) attr-dict
  }];
}

def Hal_BufferViewDimOp : Hal_Op<"buffer_view.dim", [Pure]> {
  let arguments = (ins AnyType:$buffer_view, IndexAttr:$dimension);
  let results = (outs Index:$result);
  let assemblyFormat = [{
    `` `<` $buffer_view `:` type($buffer_view) `>` `` custom<Dimension>($dimension) attr-dict `:` type($result)
  }];
}

// Fences and devices ---------------------------------------------------------------------------------------------

def Hal_FenceCreateOp : Hal_Op<"fence.create"> {
  let arguments = (ins AnyType:$device, StrAttr:$flags);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    `device` `(` $device `:` type($device) `)` `flags` `(` $flags `)` `:` type($result) attr-dict
  }];
}

def Hal_FenceAwaitOp : Hal_Op<"fence.await"> {
  let arguments = (ins Variadic<Hal_FenceType>:$fences, I32:$timeout_millis, StrAttr:$flags);
  let results = (outs I32:$status);
  let assemblyFormat = [{
    `until` `(` `[` $fences `]` `)` `timeout_millis` `(` $timeout_millis `)` `flags`
    `(` $flags `)` `:` type($status) attr-dict
  }];
}

def Hal_FenceSignalOp : Hal_Op<"fence.signal"> {
  let arguments = (ins Hal_FenceType:$fence);
  let assemblyFormat = "`<` $fence `:` type($fence) `>` attr-dict";
}

def Hal_FenceFailOp : Hal_Op<"fence.fail"> {
  let summary = "whoever waits for the fence fails with this status code";
  let arguments = (ins Hal_FenceType:$fence, I32:$status);
  let assemblyFormat = "`<` $fence `:` type($fence) `>` `status` `(` $status `)` attr-dict";
}

def Hal_FenceJoinOp : Hal_Op<"fence.join"> {
  let arguments = (ins Variadic<Hal_FenceType>:$fences, StrAttr:$flags);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    `at` `(` `[` $fences `]` `)` `flags` `(` $flags `)` `->` type($result) attr-dict
  }];
}

def Hal_DeviceQueryOp : Hal_Op<"device.query"> {
  let arguments = (ins AnyType:$device, StrAttr:$category, StrAttr:$key, OptionalAttr<TypedAttrInterface>:$default_value);
  let results = (outs I1:$ok, AnyType:$value);
  let assemblyFormat = [{
    `` `<` $device `:` type($device) `>` `key` `(` $category `:` `` `:` $key `)` `:` type($ok) `,` type($value)
    (`=` $default_value^)? attr-dict
  }];
}

#endif
