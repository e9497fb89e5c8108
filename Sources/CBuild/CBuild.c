#include "CBuild.h"

// Weak: defined by CBuildCommit, which only programs link. SwiftPM recompiles a Swift module when an object of a C
// target below it changes, so no large module depends on the file that changes with each commit.
extern const char opbench_build_commit[] __attribute__((weak));

const char *cbuild_commit(void) { return opbench_build_commit != 0 ? opbench_build_commit : ""; }
