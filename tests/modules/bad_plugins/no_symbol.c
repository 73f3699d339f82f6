/* A shared library that is no plugin: it exports something else. */
#include "modules/sdk/module.h"

BATON_EXPORT int something_else(void);
BATON_EXPORT int something_else(void) { return 1; }
