/// The lines of the engine's contract that this package tests: the group's letter and how many lines it has.
let contractGroups: [(letter: Character, lines: Int)] = [
    ("A", 10), ("B", 17), ("C", 13), ("D", 24), ("E", 25), ("F", 8), ("G", 12), ("H", 9), ("I", 11), ("J", 16),
    ("K", 14), ("L", 13),
    ("M", 15), ("N", 14), ("O", 8), ("P", 13), ("Q", 8),
    ("X", 4),
]

/// The lines without a test, and why. `ContractCoverageTests` holds the tests' names against this table.
let untestedLines: [String: String] = [
    "A7": "a cost, which the benchmark measures; tests assert nothing about time",
    "B16": "autorelease pools exist on Apple's platforms only",
    "X3": "not offered yet: timeout, retry, rate limit, exclusion",
    "X4": "not offered yet: trace hooks",
]

/// The lines of which a part has no test, and which part.
let partlyTestedLines: [String: String] = [
    "M10": "that the count takes constant time is for the benchmark"
]

/// The contract's error table, group R: the rows, each with the line that makes it an error. The test of a row names R
/// and the line.
let errorTable: [(row: String, line: String)] = [
    ("start when not ready", "B6"),
    ("start when executing", "B5"),
    ("start when in a queue", "B9"),
    ("start when finished, in strict mode", "B4"),
    ("adding one that executes", "B10"),
    ("adding one that is finished, or in a queue", "M6"),
    ("a negative limit", "N5"),
    ("a late execution block", "K7"),
    ("a late completion block, in strict mode", "I9"),
    ("the result of a cancelled invocation", "L7"),
    ("the result of an invocation that returns nothing", "L8"),
    ("the error of an invoked method", "L9"),
    ("a dependency on itself", "E17"),
    ("finished without start: a report, no more", "C9"),
    ("waiting for itself", "O5"),
    ("another underlying queue for one that holds operations", "P5"),
    ("runMain elsewhere than on the main thread", "P1"),
    ("observing what cannot be observed", "D1"),
    ("observing what cannot be observed in a queue", "D23"),
]

/// Where Foundation on Linux does not keep the engine's contract, and what it does instead. Lines not named here are
/// tested on Foundation by the same source as on the engine.
let foundationDifferences = ownDifferences.merging(observationLines) { difference, _ in difference }
    .merging(invocationLines) { difference, _ in difference }

/// Foundation for Linux has no invocation operations.
private let invocationLines = Dictionary(
    uniqueKeysWithValues: (1...13).map { ("L\($0)", "absent: no InvocationOperation") })

/// Observation does not exist on Foundation for Linux: `willChangeValue` does nothing, and there is no `observe`.
private let observationLines = Dictionary(
    uniqueKeysWithValues: (1...24).map { ("D\($0)", "absent: no observation") } + [("I11", "absent: no observation")])

private let ownDifferences: [String: String] = [
    "A10": "differs: the description does not show the name",
    "B3": "differs: a dependency added after the finish makes a finished operation unready",
    "B4": "no strict mode",
    "B5": "agrees that it is an error; traps always",
    "B6": "agrees that it is an error; traps always",
    "B9": "agrees; what is an error traps always",
    "B10": "agrees that it is an error; traps always",
    "B12": "absent: no such helper",
    "B11": "differs: main called again runs the blocks of a finished operation, which are kept",
    "B2": "absent: no isConcurrent",
    "C3": "agrees, but a queue may notice an end that falls into start although it is not announced",
    "C9": "agrees but for the report; not run, since Foundation prints it",
    "C13": "absent: no threadPriority",
    "E9": "fails: removing an unfinished dependency leaves the dependent unready for ever",
    "E13": "fails: the dependent never becomes ready",
    "E17": "hangs the caller",
    "E21": "crashes: touches freed dependents",
    "E22": "crashes: overflows the stack when a chain of some 100,000 is released",
    "E23": "fails: quadratic time",
    "E25": "not run: quadratic time",
    "F4": "not run: see F3",
    "F5": "differs: see F7",
    "F7": "not run: no such promise",
    "G2": "absent: no setter for raw values",
    "G6": "differs: runs late ones in the order of adding",
    "H1": "absent: no threadPriority", "H2": "absent: no threadPriority", "H3": "absent: no threadPriority",
    "H4": "absent: no threadPriority", "H5": "absent: no threadPriority", "H6": "absent: no threadPriority",
    "H7": "absent: no threadPriority", "H8": "absent: no threadPriority",
    "H9": "absent: no threadPriority",
    "I6": "fails: the completion block is kept",
    "I9": "no strict mode; set while executing it is honoured",
    "J9": "differs: a cancelled operation needs a slot to finish",
    "K2": "fails: blocks run one after another on one thread",
    "K4": "differs: all blocks run on the caller's thread",
    "K5": "fails, as K2",
    "K6": "cannot be told apart from K2",
    "K7": "agrees that it is an error; traps always",
    "K9": "absent: no threadPriority",
    "K13": "fails: blocks are kept",
    "M5": "agrees that it is an error; traps always",
    "M6": "agrees that it is an error; traps always",
    "M13": "differs: adds about one thread a second while operations block",
    "M14": "not run: Dispatch's pool decides",
    "M15": "not run: takes minutes",
    "N5": "agrees that it is an error; traps always",
    "N8": "cannot be told apart from K2",
    "N12": "not run: no such promise",
    "N13": "fails: one more thread a second while operations block",
    "N14": "differs: the quality of service acts as a priority if the limit is not 1",
    "O5": "hangs: no misuse is reported, and there is no timed wait",
    "O6": "differs: one more thread a second while operations wait",
    "O7": "absent: no timed wait",
    "O8": "absent: no forms for async code",
    "P8": "fails: a barrier added to an empty queue runs at once, suspended or not",
    "P11": "differs: what is behind a cancelled barrier waits for what is before it; a race loses operations",
    "P9": "fails: a barrier added to the empty main queue runs on another thread",
    "Q5": "fails: the completion block is kept",
    "Q7": "not run: pairs that never run leak",
    "Q8": "not run: no such promise",
    "X1": "absent: no async operations", "X2": "absent: no failures",
]
