// oneTBB's task groups and flow graphs, as C calls. Each has an arena of its own, in which at most `threads` threads work:
// those that submit or wait, and oneTBB's own. With `threads` 0 it has the calling thread's, as a plain program: then this
// thread makes all calls that are not made by operations. The operations are numbers.
#ifndef CONETBB_H
#define CONETBB_H
#include <stdbool.h>
#include <stdint.h>

/// Runs an operation; called on threads of oneTBB, and on the one that waits.
typedef void (*conetbb_body)(void *context, intptr_t operation);

/// The version of the library in this process: 2021.8.
const char *conetbb_version(void);

/// Whether the library allocates with its own malloc, libtbbmalloc, which it loads if it lies beside it.
bool conetbb_has_own_malloc(void);

// MARK: Task groups

struct conetbb_group;

struct conetbb_group *conetbb_group_create(int threads, conetbb_body body, void *context);

/// To be called when the group has been waited for.
void conetbb_group_destroy(struct conetbb_group *group);

/// Calls `work` in the group's arena, where `conetbb_group_run` adds to the thread's own tasks; on another thread there if
/// the arena is full. Several threads may call it at once.
void conetbb_group_enter(struct conetbb_group *group, void (*work)(void *), void *argument);

/// Adds an operation. Called in the arena: by `conetbb_group_enter` or an operation.
void conetbb_group_run(struct conetbb_group *group, intptr_t operation);

/// Runs operations until all have ended.
void conetbb_group_wait(struct conetbb_group *group);

// MARK: Flow graphs

struct conetbb_graph;

/// A graph of `count` nodes without edges, each of which runs the operation of its number.
struct conetbb_graph *conetbb_graph_create(int threads, intptr_t count, conetbb_body body, void *context);

/// To be called when the graph has been waited for.
void conetbb_graph_destroy(struct conetbb_graph *graph);

void conetbb_graph_connect(struct conetbb_graph *graph, intptr_t predecessor, intptr_t successor);

/// Starts nodes that have no predecessors.
void conetbb_graph_start(struct conetbb_graph *graph, const intptr_t *operations, intptr_t count);

/// Runs operations until all have ended.
void conetbb_graph_wait(struct conetbb_graph *graph);

#endif
