#include <dlfcn.h>
#include <memory>
#include <oneapi/tbb/cache_aligned_allocator.h>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>
#include <optional>

extern "C" {
#include "COneTBB.h"
}

using namespace oneapi;

namespace {
/// What an operation of a group or a graph calls.
struct operations {
    conetbb_body body;
    void *context;

    void run(intptr_t operation) const { body(context, operation); }
};

/// The arena of a group or a graph: the caller's, or its own for a number of threads.
class place {
    std::optional<tbb::task_arena> arena;

public:
    explicit place(int threads) {
        if (threads > 0) arena.emplace(threads);
    }

    template <typename Work> void execute(Work work) { arena ? arena->execute(work) : work(); }
};
} // namespace

const char *conetbb_version(void) { return TBB_runtime_version(); }

bool conetbb_has_own_malloc(void) {
    // The first allocation loads it.
    tbb::cache_aligned_allocator<char> allocator;
    allocator.deallocate(allocator.allocate(1), 1);
    void *library = dlopen("libtbbmalloc.so.2", RTLD_LAZY | RTLD_NOLOAD);
    if (library) dlclose(library);
    return library;
}

struct conetbb_group {
    operations all;
    place arena;
    tbb::task_group group;
};

conetbb_group *conetbb_group_create(int threads, conetbb_body body, void *context) {
    return new conetbb_group{{body, context}, place(threads), {}};
}

void conetbb_group_destroy(conetbb_group *group) { delete group; }

void conetbb_group_enter(conetbb_group *group, void (*work)(void *), void *argument) {
    group->arena.execute([=] { work(argument); });
}

void conetbb_group_run(conetbb_group *group, intptr_t operation) {
    group->group.run([all = group->all, operation] { all.run(operation); });
}

void conetbb_group_wait(conetbb_group *group) {
    group->arena.execute([=] { group->group.wait(); });
}

using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

struct conetbb_graph {
    operations all;
    place arena;
    /// Made in the arena, in which it then runs its nodes.
    std::optional<tbb::flow::graph> graph;
    /// Nodes cannot be moved, as those of a vector are.
    node *nodes;
    intptr_t count;
};

conetbb_graph *conetbb_graph_create(int threads, intptr_t count, conetbb_body body, void *context) {
    auto made = new conetbb_graph{{body, context}, place(threads), {}, std::allocator<node>().allocate(count), count};
    made->arena.execute([=] { made->graph.emplace(); });
    for (intptr_t operation = 0; operation < count; ++operation) {
        new (made->nodes + operation) node(*made->graph, [made, operation](tbb::flow::continue_msg message) {
            made->all.run(operation);
            return message;
        });
    }
    return made;
}

void conetbb_graph_destroy(conetbb_graph *graph) {
    std::destroy_n(graph->nodes, graph->count);
    std::allocator<node>().deallocate(graph->nodes, graph->count);
    delete graph;
}

void conetbb_graph_connect(conetbb_graph *graph, intptr_t predecessor, intptr_t successor) {
    tbb::flow::make_edge(graph->nodes[predecessor], graph->nodes[successor]);
}

void conetbb_graph_start(conetbb_graph *graph, const intptr_t *operations, intptr_t count) {
    graph->arena.execute([=] {
        for (intptr_t index = 0; index < count; ++index) {
            graph->nodes[operations[index]].try_put(tbb::flow::continue_msg());
        }
    });
}

void conetbb_graph_wait(conetbb_graph *graph) {
    graph->arena.execute([=] { graph->graph->wait_for_all(); });
}
