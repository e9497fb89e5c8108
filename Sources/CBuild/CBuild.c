#include "CBuild.h"

// In a target of its own: another commit compiles this file alone, and links.
#ifndef OPBENCH_COMMIT
#define OPBENCH_COMMIT ""
#endif

const char *cbuild_commit(void) { return OPBENCH_COMMIT; }
