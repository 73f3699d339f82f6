/* A TVM-FFI of tomorrow: another version, and nothing else. */
typedef struct {
  unsigned major, minor, patch;
} version;
__attribute__((visibility("default"))) void TVMFFIGetVersion(version* out) {
  out->major = 0;
  out->minor = MINOR;
  out->patch = 7;
}
