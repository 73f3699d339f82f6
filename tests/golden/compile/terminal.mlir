// At a terminal baton-compile says what it waits for, and prints no binary.
// RUN: %{python} %S/../tools/typed.py "" baton-compile %s | FileCheck %s --check-prefix=BINARY
// RUN: %{python} %S/../tools/typed.py "util.func @f() { util.return }" baton-compile -o %t.bvm | FileCheck %s --check-prefix=WAITS
// RUN: baton-dump-module %t.bvm | FileCheck %s --check-prefix=WRITTEN
// RUN: %{python} %S/../tools/typed.py "" baton-compile --compile-to=input %s | FileCheck %s --check-prefix=TEXT
// RUN: baton-compile %s | baton-dump-module - | FileCheck %s --check-prefix=WRITTEN

// BINARY: baton-compile: INVALID_ARGUMENT; a module file is no text for a terminal; say where it goes, as in -o program.bvm
// BINARY: exit code 1
// WAITS: baton-compile: reads a program in MLIR from the terminal, up to Ctrl-D; --help tells more
// WAITS: exit code 0
// WRITTEN: @f
// TEXT: util.func public @f
// TEXT: exit code 0
util.func @f() {
  util.return
}
