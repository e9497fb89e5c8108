#define _GNU_SOURCE
#include "CLinuxSpawn.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// From Linux 5.3, 5.9 and 5.11 on; older headers lack them.
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

enum { most_files = 8 };

/// Runs in the new process, and makes only calls that are safe there. Returns only on failure, with an errno value. Has
/// its own frame, below that of the function that calls vfork(2), in which the parent continues.
static __attribute__((noinline)) int become(
    pid_t parent, const char *program, char *const *arguments, char *const *environment, const char *folder, int own_group,
    int signal_at_end, const int *files, int count) {
    prctl(PR_SET_PDEATHSIG, signal_at_end);
    if (getppid() != parent) return ESRCH;
    if (own_group && setpgid(0, 0) != 0) return errno;
    // Move the descriptors out of each other's way first.
    int copies[most_files];
    for (int i = 0; i < count; i++) {
        if ((copies[i] = fcntl(files[i], F_DUPFD_CLOEXEC, count)) < 0) return errno;
    }
    for (int i = 0; i < count; i++) {
        if (dup2(copies[i], i) < 0) return errno;
    }
    if (syscall(SYS_close_range, (unsigned)count, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {
        // Before Linux 5.11, or if a sandbox refuses it.
        long end = sysconf(_SC_OPEN_MAX);
        for (int file = count; file < (end > 0 && end < 65536 ? end : 65536); file++) fcntl(file, F_SETFD, FD_CLOEXEC);
    }
    if (folder && chdir(folder) != 0) return errno;
    // The program does not inherit ignored signals.
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // execvpe(3) passes a file that the kernel cannot execute to a shell.
    if (strchr(program, '/')) execve(program, arguments, environment);
    else execvpe(program, arguments, environment);
    return errno;
}

/// Makes this process's children waitable even if it was started with SIGCHLD ignored, when the kernel would reap them.
static void heed_children(void) {
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) != 0) return;
    if (action.sa_handler != SIG_IGN && !(action.sa_flags & SA_NOCLDWAIT)) return;
    if (action.sa_handler == SIG_IGN) action.sa_handler = SIG_DFL;
    action.sa_flags &= ~SA_NOCLDWAIT;
    sigaction(SIGCHLD, &action, NULL);
}

pid_t clinux_start_tied(
    const char *program, char *const *arguments, char *const *environment, const char *folder, int own_group,
    int signal_at_end, const int *files, int count) {
    if (count < 0 || count > most_files) return -EINVAL;
    heed_children();
    pid_t parent = getpid();
    // The new process shares this one's memory until it becomes the program, and this thread waits until then: nothing
    // is copied, however large this process is. No signal handler may run there meanwhile.
    volatile int failure = 0;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t process = vfork();
    if (process == 0) {
        failure = become(parent, program, arguments, environment, folder, own_group, signal_at_end, files, count);
        _exit(127);
    }
    if (process < 0) failure = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure && process > 0) clinux_wait_for(process);
    return failure ? -failure : process;
}

int clinux_open_process(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int clinux_has_ended(pid_t process) {
    siginfo_t ended = {.si_pid = 0};
    if (waitid(P_PID, (id_t)process, &ended, WEXITED | WNOHANG | WNOWAIT) != 0) return -1;
    return ended.si_pid == process;
}

int clinux_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void clinux_signal_event(int event) { eventfd_write(event, 1); }

int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno; }

int clinux_wait_for(pid_t process) {
    int status;
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return status;
}

static _Atomic pid_t receiver;

static void pass_signal(int number, siginfo_t *info, void *context) {
    (void)context;
    int before = errno;
    pid_t process = receiver;
    // Not positive: sent by a process, as by kill(2).
    if (process > 0 && info->si_code <= 0) kill(process, number);
    errno = before;
}

void clinux_pass_signals(pid_t process) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    receiver = process;
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN) continue;
        action = (struct sigaction){.sa_sigaction = pass_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
        sigaction(numbers[i], &action, NULL);
    }
}
