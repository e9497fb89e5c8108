import OpBenchRunner

// A sample's process is this program run again. It must become one before anything else has made a thread or a queue.
SampleChild.mainIfChild()
OpBench.runAndExit()
