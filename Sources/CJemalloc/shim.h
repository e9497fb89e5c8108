// jemalloc's control interface, mallctl(3). Nothing of our own.
#include <jemalloc/jemalloc.h>
