// oneTBB used by hand, for the shapes of adapters.swift and with its arguments. FORM is group, a task_group; or flow, a flow
// graph, for chain and layered. The latter's rounds end before its nodes are released.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_group.h>
#include <optional>
#include <string>
#include <vector>

using namespace oneapi;

constexpr int32_t window = 256, chain_count = 8, width = 64, layers = 100, degree = 3;

static int32_t operation_count;
static std::unique_ptr<uint32_t[]> marks;

// MARK: A graph in layers, each operation after `degree` operations of the previous layer

static std::vector<int32_t> predecessors, successors, successor_starts;
static std::unique_ptr<std::atomic<int32_t>[]> waiting;

static void make_graph() {
    uint64_t state = 7;
    std::vector<std::vector<int32_t>> lists(operation_count);
    predecessors.resize(operation_count * degree);
    for (int32_t operation = width; operation < operation_count; ++operation) {
        auto chosen = predecessors.begin() + operation * degree;
        for (int32_t count = 0; count < degree;) {
            state = state * 6364136223846793005 + 1442695040888963407;
            int32_t predecessor = (operation / width - 1) * width + (state >> 33) % width;
            if (std::find(chosen, chosen + count, predecessor) != chosen + count) continue;
            chosen[count++] = predecessor;
            lists[predecessor].push_back(operation);
        }
    }
    for (auto &list : lists) {
        successor_starts.push_back(successors.size());
        successors.insert(successors.end(), list.begin(), list.end());
    }
    successor_starts.push_back(successors.size());
}

template <typename Body> static void each_successor(int32_t operation, Body body) {
    for (int32_t index = successor_starts[operation]; index < successor_starts[operation + 1]; ++index) body(successors[index]);
}

// MARK: Bodies

static void mark(int32_t operation) { marks[operation] += 1; }

static void mark_link(int32_t operation) {
    marks[operation] += (operation >= chain_count ? marks[operation - chain_count] : 0) + 1;
}

static void mark_node(int32_t operation) {
    uint32_t highest = 0;
    if (operation >= width) {
        for (int32_t index = operation * degree; index < (operation + 1) * degree; ++index) {
            highest = std::max(highest, marks[predecessors[index]]);
        }
    }
    marks[operation] += highest + 1;
}

// MARK: Task groups

static tbb::task_group *group;

static void tiny() {
    for (int32_t operation = 0; operation < operation_count; ++operation) group->run([=] { mark(operation); });
}

static int32_t batch_end;
static std::atomic<int32_t> unfinished;

static void run_batch() {
    int32_t begin = batch_end;
    batch_end = std::min(begin + window, operation_count);
    unfinished.store(batch_end - begin, std::memory_order_relaxed);
    for (int32_t operation = begin, end = batch_end; operation < end; ++operation) {
        group->run([=] {
            mark(operation);
            if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1 && batch_end < operation_count) run_batch();
        });
    }
}

static void refill() {
    batch_end = 0;
    run_batch();
}

static void run_link(int32_t operation) {
    group->run([=] {
        mark_link(operation);
        if (operation + chain_count < operation_count) run_link(operation + chain_count);
    });
}

static void chain() {
    for (int32_t head = 0; head < chain_count; ++head) run_link(head);
}

static void run_node(int32_t operation) {
    group->run([=] {
        mark_node(operation);
        each_successor(operation, [](int32_t successor) {
            if (waiting[successor].fetch_sub(1, std::memory_order_acq_rel) == 1) run_node(successor);
        });
    });
}

static void layered() {
    waiting.reset(new std::atomic<int32_t>[operation_count]);
    for (int32_t operation = 0; operation < operation_count; ++operation) {
        waiting[operation].store(degree, std::memory_order_relaxed);
    }
    for (int32_t source = 0; source < width; ++source) run_node(source);
}

static void by_group(void (*run)()) {
    tbb::task_group tasks;
    group = &tasks;
    run();
    tasks.wait();
}

// MARK: Flow graphs

struct flow_graph {
    using message = tbb::flow::continue_msg;

    tbb::flow::graph graph;
    std::vector<tbb::flow::continue_node<message>> nodes;

    template <typename Mark> explicit flow_graph(Mark mark) {
        nodes.reserve(operation_count);
        for (int32_t operation = 0; operation < operation_count; ++operation) {
            nodes.emplace_back(graph, [=](message passed) {
                mark(operation);
                return passed;
            });
        }
    }

    void run(int32_t sources) {
        for (int32_t source = 0; source < sources; ++source) nodes[source].try_put(message());
        graph.wait_for_all();
    }
};
static std::optional<flow_graph> flow;

static void chain_flow() {
    flow.emplace([](int32_t operation) { mark_link(operation); });
    for (int32_t next = chain_count; next < operation_count; ++next) {
        make_edge(flow->nodes[next - chain_count], flow->nodes[next]);
    }
    flow->run(chain_count);
}

static void layered_flow() {
    flow.emplace([](int32_t operation) { mark_node(operation); });
    for (int32_t operation = 0; operation < operation_count; ++operation) {
        each_successor(operation, [=](int32_t successor) { make_edge(flow->nodes[operation], flow->nodes[successor]); });
    }
    flow->run(width);
}

// MARK: Rounds

/// Nanoseconds per operation.
template <typename Round> static double rounds(Round round, double nanoseconds) {
    using clock = std::chrono::steady_clock;
    double total = 0, operations = 0;
    while (total < nanoseconds) {
        std::fill_n(marks.get(), operation_count, 0);
        auto begun = clock::now();
        round();
        total += std::chrono::duration<double, std::nano>(clock::now() - begun).count();
        operations += operation_count;
        flow.reset();
        if (std::count(marks.get(), marks.get() + operation_count, 0) > 0) abort();
    }
    return total / operations;
}

int main(int count, char **words) {
    static const struct {
        std::string shape, form;
        int32_t operations;
        void (*run)();
    } programs[] = {
        {"tiny", "group", 20000, tiny},
        {"refill", "group", 20000, refill},
        {"chain", "group", 2000 * chain_count, chain},
        {"chain", "flow", 2000 * chain_count, chain_flow},
        {"layered", "group", width * layers, layered},
        {"layered", "flow", width * layers, layered_flow},
    };
    for (auto &program : programs) {
        if (count < 3 || program.shape != words[1] || program.form != words[2]) continue;
        operation_count = program.operations;
        marks.reset(new uint32_t[operation_count]);
        make_graph();
        auto round = [&] { program.form == "flow" ? program.run() : by_group(program.run); };
        rounds(round, 1e8);
        printf("%.17g\n", rounds(round, 3e8));
        return 0;
    }
    fprintf(stderr, "usage: adapters tiny|refill|chain|layered group, or chain|layered flow\n");
    return 64;
}
