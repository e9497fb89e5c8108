#include "CBuildCommit.h"

#ifndef OPBENCH_COMMIT
#define OPBENCH_COMMIT ""
#endif

const char opbench_build_commit[] = OPBENCH_COMMIT;
