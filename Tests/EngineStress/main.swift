import EngineStressScenarios
import Glibc
import Synchronization
import TestSupport

// Ctrl-C is waited for by a thread of its own, which every other thread leaves it to.
var signals = sigset_t()
sigemptyset(&signals)
sigaddset(&signals, SIGINT)
sigaddset(&signals, SIGTERM)
pthread_sigmask(SIG_BLOCK, &signals, nil)

MisuseWatch.ownsProcess.store(true, ordering: .relaxed)
CrashNote.install()

switch Options.parse(Array(CommandLine.arguments.dropFirst())) {
case .help:
    print(Options.help)
case .list:
    print(Options.list)
case .refuse(let reason):
    let line = "stress: \(reason)\n"
    _ = line.utf8CString.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count - 1) }
    exit(64)
case .play(let options):
    let tour = Tour(options)
    let waited = signals
    onNewThread {
        var waited = waited
        var signal: Int32 = 0
        sigwait(&waited, &signal)
        print("ended by signal \(signal)")
        tour.printSummary()
        exit(128 + signal)
    }
    let isKept = tour.play()
    tour.printSummary()
    if isKept { tour.printIdleCost() }
    exit(isKept ? 0 : 1)
}
