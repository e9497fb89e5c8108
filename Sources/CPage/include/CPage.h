// The files of the page that `opbench report` writes, embedded in the program: built programs are copied and moved, and
// embedded files are always found.
#ifndef CPAGE_H
#define CPAGE_H
#include <stddef.h>

/// The bytes of one file, without a terminator.
struct cpage_file {
    const unsigned char *bytes;
    size_t count;
};

enum cpage_name {
    CPAGE_TEMPLATE,
    CPAGE_STYLE,
    CPAGE_TEXT,
    CPAGE_DATA,
    CPAGE_VERDICTS,
    CPAGE_TABLE,
    CPAGE_CHARTS,
    CPAGE_SECTIONS,
    CPAGE_HISTORY,
    CPAGE_DIFFERENCES,
    CPAGE_BY_CELL,
    CPAGE_ONE_CELL,
    CPAGE_SWEEPS,
    CPAGE_MAIN,
    CPAGE_LIBRARY,
    CPAGE_LICENSE,
    CPAGE_NOTICE,
};

struct cpage_file cpage_file(enum cpage_name name);

#endif
