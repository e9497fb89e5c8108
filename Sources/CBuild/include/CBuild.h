#ifndef CBUILD_H
#define CBUILD_H

/// The commit of the sources that the program was built from, ending in "-dirty" if they differed from it; empty if the
/// environment of the build had no OPBENCH_COMMIT.
const char *cbuild_commit(void);

#endif
