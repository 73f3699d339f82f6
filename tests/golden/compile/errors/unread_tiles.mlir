// Sizes of tiles for IREE's code generation are named with what does instead.
// RUN: not baton-compile %s 2>&1 | FileCheck %s
// CHECK: unread_tiles.mlir:[[@LINE+1]]:{{[0-9]+}}: error: #iree_codegen.lowering_config is not read: Baton chooses tiles itself; leave it out.
#tiles = #iree_codegen.lowering_config<tile_sizes = [[32, 32], [8, 8, 0]]>
