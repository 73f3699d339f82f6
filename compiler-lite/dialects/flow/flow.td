// The dialect `flow`: tensors and what is dispatched over them.
#ifndef BATON_COMPILER_LITE_DIALECTS_FLOW
#define BATON_COMPILER_LITE_DIALECTS_FLOW

include "compiler-lite/dialects/base.td"

def Flow_Dialect : Dialect {
  let name = "flow";
  let cppNamespace = "::baton::compiler_lite::flow";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}
class Flow_Op<string mnemonic, list<Trait> traits = []> : Op<Flow_Dialect, mnemonic, traits>;

def Flow_ChannelType : TypeDef<Flow_Dialect, "Channel"> {
  let mnemonic = "channel";
  let summary = "ranks that work together in collectives";
}

// `<"scope"::"key">`, or `<"key">`, and a dictionary that may stand behind.
def Flow_NamedParameterAttr : AttrDef<Flow_Dialect, "NamedParameter", [TypedAttrInterface]> {
  let mnemonic = "parameter.named";
  let summary = "a tensor of a file, which the host gives by the name of its scope";
  let parameters = (ins AttributeSelfTypeParameter<"">:$type, OptionalParameter<"::mlir::StringAttr">:$scope,
                    "::mlir::StringAttr":$key, OptionalParameter<"::mlir::DictionaryAttr">:$configuration);
  let hasCustomAssemblyFormat = 1;
}

def Flow_DispatchOp : Flow_Op<"dispatch", [AttrSizedOperandSegments, Pure]> {
  let summary = "runs an entry point of an executable over a grid";
  let arguments = (ins Variadic<Index>:$workload, SymbolRefArrayAttr:$entry_points, Variadic<AnyType>:$arguments,
                   Variadic<Index>:$argument_dims, Variadic<Index>:$result_dims, TiedOperands:$tied_operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    custom<EntryPoints>($entry_points) (`[` $workload^ `]`)? `` `(` $arguments `)` attr-dict `:`
    custom<ShapedFunctionType>(ref($arguments), type($arguments), $argument_dims, type($results), $result_dims,
                               $tied_operands)
  }];
  let hasVerifier = 1;
}

def Flow_DispatchRegionOp : Flow_Op<"dispatch.region", [AttrSizedOperandSegments]> {
  let summary = "a dispatch whose body stands in place";
  let arguments = (ins Variadic<Index>:$workload, Variadic<Index>:$result_dims);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region AnyRegion:$body, AnyRegion:$workgroup_count);
  let assemblyFormat = [{
    (`[` $workload^ `]`)? `` custom<ShapedResults>(type($results), $result_dims) attr-dict-with-keyword $body
    `` custom<OptionalCount>($workgroup_count)
  }];
}

class Flow_WorkgroupOp<string what> : Flow_Op<"dispatch.workgroup." # what, [Pure]> {
  let arguments = (ins IndexAttr:$dimension);
  let results = (outs Index:$result);
  let assemblyFormat = "`` custom<Dimension>($dimension) attr-dict `:` type($result)";
}
def Flow_DispatchWorkgroupIDOp : Flow_WorkgroupOp<"id">;
def Flow_DispatchWorkgroupCountOp : Flow_WorkgroupOp<"count">;
def Flow_DispatchWorkgroupSizeOp : Flow_WorkgroupOp<"size">;

def Flow_ReturnOp : Flow_Op<"return", [Pure, ReturnLike, Terminator]> {
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def Flow_FuncOp : Flow_Op<"func", [FunctionOpInterface, IsolatedFromAbove]> {
  let summary = "a function that records commands";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                   OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
                   OptionalAttr<DictArrayAttr>:$res_attrs, TiedOperands:$tied_operands);
  let regions = (region AnyRegion:$body);
  let extraClassDeclaration = [{
    ::mlir::Region* getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
  }];
  let hasCustomAssemblyFormat = 1;
}

def Flow_CallOp : Flow_Op<"call", [AttrSizedOperandSegments]> {
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$arguments, Variadic<Index>:$argument_dims,
                   Variadic<Index>:$result_dims, TiedOperands:$tied_operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $arguments `)` attr-dict `:`
    custom<ShapedFunctionType>(ref($arguments), type($arguments), $argument_dims, type($results), $result_dims,
                               $tied_operands)
  }];
}

def Flow_TensorTieShapeOp : Flow_Op<"tensor.tie_shape", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "the same tensor, with its sizes said";
  let arguments = (ins AnyRankedTensor:$operand, Variadic<Index>:$dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<ShapedType>(type($result), $dims)";
}

def Flow_TensorTransferOp : Flow_Op<"tensor.transfer", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "the same tensor, on another device";
  let arguments = (ins AnyRankedTensor:$operand, Variadic<Index>:$dims, AnyAttr:$target);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand `:` custom<ShapedType>(type($result), $dims) `to` $target attr-dict";
}

def Flow_TensorDynamicConstantOp : Flow_Op<"tensor.dynamic_constant"> {
  let summary = "a constant whose sizes nothing looks into";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict $value `->` type($result)";
}

class Flow_TensorViewOp<string mnemonic> : Flow_Op<mnemonic, [AttrSizedOperandSegments, Pure]> {
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$source_dims, Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `:` custom<ShapedType>(type($source), $source_dims) `->`
    custom<ShapedType>(type($result), $result_dims) attr-dict
  }];
}
def Flow_TensorBitcastOp : Flow_TensorViewOp<"tensor.bitcast"> {
  let summary = "the same bytes as elements of another type";
}
def Flow_TensorReshapeOp : Flow_TensorViewOp<"tensor.reshape"> {
  let summary = "the same elements in another shape";
}

// What frontends build programs of, one tensor at a time. Tensors are values: what is updated or stored to stays as it was.
class Flow_ElementIsOf<string element, string tensor> : TypesMatchWith<
    "an element of the tensor", tensor, element, "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()">;

def Flow_TensorLoadOp : Flow_Op<"tensor.load", [AttrSizedOperandSegments, Pure, Flow_ElementIsOf<"result", "source">]> {
  let summary = "one element";
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$source_dims, Variadic<Index>:$indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $source (`[` $indices^ `]`)? `:` custom<ShapedType>(type($source), $source_dims) attr-dict
  }];
  let hasVerifier = 1;
}

def Flow_TensorStoreOp : Flow_Op<"tensor.store", [AttrSizedOperandSegments, Pure, Flow_ElementIsOf<"value", "target">,
                                                  AllTypesMatch<["target", "result"]>]> {
  let summary = "the tensor with another element at one place";
  let arguments = (ins AnyType:$value, AnyRankedTensor:$target, Variadic<Index>:$target_dims, Variadic<Index>:$indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $value `,` $target (`[` $indices^ `]`)? `:` custom<ShapedType>(type($target), $target_dims) attr-dict
  }];
  let hasVerifier = 1;
}

def Flow_TensorSplatOp : Flow_Op<"tensor.splat", [Pure, Flow_ElementIsOf<"value", "result">]> {
  let summary = "one element everywhere";
  let arguments = (ins AnyType:$value, Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value `:` custom<ShapedType>(type($result), $result_dims) attr-dict";
  let hasVerifier = 1;
}

class Flow_TensorNewOp<string mnemonic> : Flow_Op<mnemonic, [Pure]> {
  let summary = "a tensor of any elements";
  let arguments = (ins Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`:` custom<ShapedType>(type($result), $result_dims) attr-dict";
  let hasVerifier = 1;
}
def Flow_TensorEmptyOp : Flow_TensorNewOp<"tensor.empty">;
def Flow_TensorAllocaOp : Flow_TensorNewOp<"tensor.alloca">;

def Flow_TensorCloneOp : Flow_Op<"tensor.clone", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "the same elements";
  let arguments = (ins AnyRankedTensor:$operand, Variadic<Index>:$dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand `:` custom<ShapedType>(type($result), $dims) attr-dict";
}

def Flow_TensorSliceOp : Flow_Op<"tensor.slice", [AttrSizedOperandSegments, Pure]> {
  let summary = "a part of a tensor";
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$source_dims, Variadic<Index>:$start_indices,
                       Variadic<Index>:$lengths, Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `[` $start_indices `for` $lengths `]` `:` custom<ShapedType>(type($source), $source_dims) `->`
    custom<ShapedType>(type($result), $result_dims) attr-dict
  }];
  let hasVerifier = 1;
}

def Flow_TensorUpdateOp : Flow_Op<"tensor.update", [AttrSizedOperandSegments, Pure, AllTypesMatch<["target", "result"]>]> {
  let summary = "the tensor with a part of it replaced";
  let arguments = (ins AnyRankedTensor:$target, Variadic<Index>:$target_dims, Variadic<Index>:$start_indices,
                       AnyRankedTensor:$update, Variadic<Index>:$update_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $update `,` $target `[` $start_indices `]` `:` custom<ShapedType>(type($update), $update_dims) `->`
    custom<ShapedTarget>(ref($target), type($result), $target_dims) attr-dict
  }];
  let hasVerifier = 1;
}

// Ranks ----------------------------------------------------------------------------------------------------------

def Flow_ChannelDefaultOp : Flow_Op<"channel.default", [Pure]> {
  let summary = "the channel of all ranks, or of a group that the host names";
  let arguments = (ins OptionalAttr<StrAttr>:$group);
  let results = (outs Flow_ChannelType:$result);
  let assemblyFormat = "($group^)? attr-dict `:` type($result)";
}

def Flow_ChannelSplitOp : Flow_Op<"channel.split"> {
  let summary = "the channel of the ranks that say the same color, in the order of their keys";
  let arguments = (ins Flow_ChannelType:$channel, Index:$color, Index:$key);
  let results = (outs Flow_ChannelType:$result);
  let assemblyFormat = "$channel `,` $color `,` $key attr-dict `:` type($channel) `->` type($result)";
}

class Flow_ChannelNumberOp<string what> : Flow_Op<"channel." # what, [Pure]> {
  let arguments = (ins Flow_ChannelType:$channel);
  let results = (outs Index:$result);
  let assemblyFormat = "$channel attr-dict `:` type($result)";
}
def Flow_ChannelRankOp : Flow_ChannelNumberOp<"rank">;
def Flow_ChannelCountOp : Flow_ChannelNumberOp<"count">;

// `arguments` are the target, whose storage the result may take, the source and the channel; behind them what else the
// operation wants.
class Flow_CollectiveOp<string mnemonic, dag arguments_before, string format_before> :
    Flow_Op<"collective." # mnemonic, [AttrSizedOperandSegments]> {
  let arguments = !con(arguments_before, (ins StrAttr:$element_type, Variadic<AnyType>:$arguments,
                                          Variadic<Index>:$result_dims));
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = format_before # [{
    custom<Word>($element_type) `,` $arguments `:`
    custom<CollectiveType>(ref($arguments), type($arguments), type($result), $result_dims) attr-dict-with-keyword
  }];
  let hasVerifier = 1;
}
class Flow_ReducingOp<string mnemonic> :
    Flow_CollectiveOp<mnemonic, (ins StrAttr:$reduction), "custom<Word>($reduction) `,`">;
class Flow_MovingOp<string mnemonic> : Flow_CollectiveOp<mnemonic, (ins), "">;

def Flow_CollectiveAllReduceOp : Flow_ReducingOp<"all_reduce">;
def Flow_CollectiveReduceScatterOp : Flow_ReducingOp<"reduce_scatter">;
def Flow_CollectiveAllGatherOp : Flow_MovingOp<"all_gather">;
def Flow_CollectiveAllToAllOp : Flow_MovingOp<"all_to_all">;
def Flow_CollectiveSendRecvOp : Flow_MovingOp<"send_recv"> {
  let summary = "to one rank and from one, whose numbers follow the channel; -1 is nobody";
}

#endif
