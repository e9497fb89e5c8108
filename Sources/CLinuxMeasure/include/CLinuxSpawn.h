// Starts a tool that ends with the process that started it.
#ifndef CLINUX_SPAWN_H
#define CLINUX_SPAWN_H
#include <sys/types.h>

/// Starts a program, looked up in PATH, which the kernel kills when the calling thread ends: to be called on the main
/// thread. fork(2), prctl(PR_SET_PDEATHSIG), execvpe(3).
///
/// `files[i]` becomes the program's descriptor `i`; it has no other. `count` is at most 8. Returns the process's number,
/// or a negative errno value where it could not be started: −ENOENT if there is no such program.
pid_t clinux_start_tied(
    const char *program, char *const *arguments, char *const *environment, const int *files, int count);

/// A pipe, whose ends no program gets that any thread starts meanwhile: pipe2(2) with O_CLOEXEC. `ends` are those to read
/// from and to write to. Returns 0 or an errno value.
int clinux_pipe(int ends[2]);

/// Waits until the process has ended, and gives what waitpid(2) says of it; −1 if it is none of ours.
int clinux_wait_for(pid_t process);

#endif
