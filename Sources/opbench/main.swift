import OpBenchCommand

OpBench.runAndExit()
