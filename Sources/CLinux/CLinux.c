#define _GNU_SOURCE
#include "CLinux.h"
#include <sys/syscall.h>
#include <unistd.h>

pid_t clinux_gettid(void) { return (pid_t)syscall(SYS_gettid); }
