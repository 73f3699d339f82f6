// A function in C++, which needs no header.
#if MORE != 1
#error OPTIONS are for bitcode, too
#endif
extern "C" float twice(float x) { return 2 * x; }
