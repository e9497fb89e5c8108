import OpBenchCommand

/// The program `opbench`, with backends of one's own.
public enum OpBenchMain {
    /// Runs the whole command line, in which `backends` stand beside the built-in ones: in workload files, after `--backend`,
    /// in `schema` and in rows. Ends the process with opbench's exit code; 64 if a name is malformed, or another backend's.
    ///
    /// To be called first in `main`, on the main thread: a sample's process is this program run again, and must become one
    /// before anything has made a thread or a queue.
    public static func run(backends: [Backend] = []) -> Never {
        OpBench.runAndExit(declaring: backends.map(\.declared))
    }
}
