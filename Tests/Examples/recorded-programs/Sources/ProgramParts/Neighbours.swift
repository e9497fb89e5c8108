import Glibc

import class Foundation.Process
import struct Foundation.URL

/// Starts two processes for each processor, which compute until this process ends.
public func startNeighbours() {
    for _ in 0..<2 * sysconf(Int32(_SC_NPROCESSORS_ONLN)) {
        let neighbour = Process()
        neighbour.executableURL = URL(filePath: "/bin/sh")
        let count = "i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done"
        neighbour.arguments = ["-c", "while kill -0 \(getpid()) 2>/dev/null; do \(count); done"]
        try? neighbour.run()
    }
}
