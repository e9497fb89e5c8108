#ifndef CBUILDCOMMIT_H
#define CBUILDCOMMIT_H

/// See cbuild_commit of CBuild.h.
extern const char opbench_build_commit[];

#endif
