// Linux system calls that Swift's Glibc module does not offer. Thin shims, no logic.
#ifndef CLINUX_H
#define CLINUX_H
#include <stdint.h>
#include <sys/types.h>

/// The kernel's id of the calling thread, gettid(2).
pid_t clinux_gettid(void);

#endif
