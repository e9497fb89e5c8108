#define _GNU_SOURCE
#include "CLinuxSpawn.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// From Linux 5.9 and 5.11 on; older headers do not have them.
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

enum { most_files = 8, beyond = 64 };

/// In the new process: calls that are safe there alone. Returns only if it failed, with an errno value.
static int become(
    pid_t parent, const char *program, char *const *arguments, char *const *environment, const int *files, int count) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) return ESRCH;
    // First out of each other's way.
    int copies[most_files];
    for (int i = 0; i < count; i++) {
        if ((copies[i] = fcntl(files[i], F_DUPFD_CLOEXEC, beyond)) < 0) return errno;
    }
    for (int i = 0; i < count; i++) {
        if (dup2(copies[i], i) < 0) return errno;
    }
    syscall(SYS_close_range, (unsigned)count, ~0U, CLOSE_RANGE_CLOEXEC);
    // What this process ignores is not the program's to ignore.
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvpe(program, arguments, environment);
    return errno;
}

pid_t clinux_start_tied(
    const char *program, char *const *arguments, char *const *environment, const int *files, int count) {
    if (count < 0 || count > most_files) return -EINVAL;
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) return -errno;
    // Not where the program's own descriptors go.
    int writer = fcntl(report[1], F_DUPFD_CLOEXEC, beyond);
    int failure = writer < 0 ? errno : 0;
    close(report[1]);
    pid_t parent = getpid();
    pid_t process = failure ? -1 : fork();
    if (process == 0) {
        int code = become(parent, program, arguments, environment, files, count);
        ssize_t written = write(writer, &code, sizeof code);
        (void)written;
        _exit(127);
    }
    if (!failure && process < 0) failure = errno;
    if (writer >= 0) close(writer);
    // The end of the pipe is closed by execve(2).
    int code = 0;
    while (!failure) {
        ssize_t length = read(report[0], &code, sizeof code);
        if (length < 0 && errno == EINTR) continue;
        if (length == sizeof code) failure = code;
        break;
    }
    close(report[0]);
    if (failure && process > 0) clinux_wait_for(process);
    return failure ? -failure : process;
}

int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno; }

int clinux_wait_for(pid_t process) {
    int status;
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return status;
}
