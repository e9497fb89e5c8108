#ifndef CBUILD_H
#define CBUILD_H

/// The commit of the sources that the program was built from, ending in "-dirty" if they differed from it; empty if whoever
/// built it has not told, by OPBENCH_COMMIT in the environment.
const char *cbuild_commit(void);

#endif
