// What is wrong with a spec is an error at its place in the spec, or in the program where that is what the spec was told of.
// RUN: not baton-opt %s --preprocessing-transform-spec-filename=%S/none.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: error: The transform spec {{.*}}none.mlir cannot be read: No such file or directory.
// RUN: not baton-opt %s --preprocessing-pdl-spec-filename=%S/none.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT-PDL
// ABSENT-PDL: error: The PDL spec {{.*}}none.mlir cannot be read: No such file or directory.
// RUN: not baton-opt %s --preprocessing-pass-pipeline=canonicalise 2>&1 | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: error: The preprocessing pass pipeline 'canonicalise' cannot be parsed: {{.*}}'canonicalise' does not refer to a registered pass or pass pipeline

// RUN: not baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/bad/syntax.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: bad/syntax.mlir:3:5: error: custom op 'transform.iree.match.cast_compatible_types' is unknown
// RUN: not baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/bad/exclusive.mlir 2>&1 | FileCheck %s --check-prefix=EXCLUSIVE
// EXCLUSIVE: bad/exclusive.mlir:3:5: error: {{.*}}says both `force` and `if undefined`, and they exclude each other
// RUN: not baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/bad/no_entry.mlir 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: bad/no_entry.mlir:1:1: error: The transform spec {{.*}}no_entry.mlir has no transform.named_sequence @__transform_main.
// RUN: not baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/bad/no_symbol.mlir 2>&1 | FileCheck %s --check-prefix=SYMBOL
// SYMBOL: bad/no_symbol.mlir:3:10: error: The spec has no symbol @absent to import.
// RUN: not baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/bad/taken_symbol.mlir 2>&1 | FileCheck %s --check-prefix=TAKEN
// TAKEN: bad/taken_symbol.mlir:6:10: error: The program has a symbol @main already.
// TAKEN: errors.mlir:[[# @LINE + 35]]:1: note: It is this one.
// RUN: not baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/bad/no_cast.mlir 2>&1 | FileCheck %s --check-prefix=CAST
// CAST: bad/no_cast.mlir:10:5: error: No conversion makes 'tensor<?xf32>' of an input of type 'tensor<4xf32>' for @f.
// RUN: not baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/bad/count.mlir 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: bad/count.mlir:10:5: error: Function @f takes 2 values and returns 1, and the match has 1 inputs and 1 outputs.
// RUN: not baton-opt %s --preprocessing-transform-spec-filename=%S/inputs/bad/empty_dag.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: bad/empty_dag.mlir:3:19: error: {{.*}}has an empty region; its last operation is the root

// RUN: not baton-opt %s --preprocessing-pdl-spec-filename=%S/inputs/bad/native.pdl.mlir 2>&1 | FileCheck %s --check-prefix=NATIVE
// NATIVE: bad/native.pdl.mlir:6:5: error: 'rewriteAsGemm' is no native rewrite; 'rewriteAsFlowDispatch' is one.
// RUN: not baton-opt %s --preprocessing-pdl-spec-filename=%S/inputs/bad/arguments.pdl.mlir 2>&1 | FileCheck %s --check-prefix=ARGUMENTS
// ARGUMENTS: bad/arguments.pdl.mlir:5:3: error: 'rewriteAsFlowDispatch' takes a root operation, a function name, and four lists of values: inputs, replaced values, their dimensions, other operands.
// RUN: not baton-opt %s --preprocessing-pdl-spec-filename=%S/inputs/bad/constraint.pdl.mlir 2>&1 | FileCheck %s --check-prefix=CONSTRAINT
// CONSTRAINT: bad/constraint.pdl.mlir:4:3: error: 'isLarge' is no native constraint; 'checkTensorElementType' is one.
// RUN: not baton-opt %s --preprocessing-pdl-spec-filename=%S/inputs/bad/unknown.pdl.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: bad/unknown.pdl.mlir:6:12: error: The spec makes math.expo, an operation that the compiler does not know.
// RUN: not baton-opt %s --preprocessing-pdl-spec-filename=%S/inputs/bad/stray.pdl.mlir 2>&1 | FileCheck %s --check-prefix=STRAY
// STRAY: bad/stray.pdl.mlir:1:1: error: util.func stands in a PDL spec, which is a list of pdl.pattern.
// RUN: not baton-opt %s --preprocessing-pdl-spec-filename=%S/inputs/bad/scalar.pdl.mlir 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: errors.mlir:[[# @LINE + 13]]:8: error: The spec gives rewriteAsFlowDispatch input 0 of type 'f32'; only ranked tensors become bindings.
// RUN: not baton-opt %s --preprocessing-pdl-spec-filename=%S/inputs/bad/dims.pdl.mlir 2>&1 | FileCheck %s --check-prefix=DIMS
// DIMS: errors.mlir:[[# @LINE + 19]]:8: error: The spec gives rewriteAsFlowDispatch 0 dynamic dimensions for the replaced values, which have 1.
// RUN: not baton-opt %s --pass-pipeline='builtin.module(iree-preprocessing-apply-pdl-patterns)' 2>&1 | FileCheck %s --check-prefix=NO-FILE
// NO-FILE: error: iree-preprocessing-apply-pdl-patterns has no patterns-file.

// Imported by force, the spec's function replaces the program's.
// RUN: sed 's/import_symbol @main/import_symbol force @main/' %S/inputs/bad/taken_symbol.mlir > %t.force.mlir
// RUN: baton-opt %s --preprocessing-transform-spec-filename=%t.force.mlir | FileCheck %s --check-prefix=FORCE
// FORCE:     util.func private @main() {
// FORCE-NOT: @main

util.func public @scalar(%x: f32) -> f32 {
  %r = math.sqrt %x : f32
  util.return %r : f32
}
util.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = math.exp %x : tensor<4xf32>
  util.return %r : tensor<4xf32>
}
util.func public @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = math.absf %x : tensor<?xf32>
  util.return %r : tensor<?xf32>
}

// A spec without a pattern.
// RUN: echo "module {}" > %t.empty.mlir && not baton-opt %s --preprocessing-pdl-spec-filename=%t.empty.mlir 2>&1 | FileCheck %s --check-prefix=NO-PATTERN
// RUN: not baton-compile %s --preprocessing-pdl-spec-filename=/dev/null -o %t.bvm 2>&1 | FileCheck %s --check-prefix=NO-PATTERN
// NO-PATTERN: error: The PDL spec {{.*}} has no pdl.pattern.
