// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The engine's own lock and parker, compiled with these declarations in place of the imported ones.
import CLinux
import Interleaving

typealias Atomic = ExploredAtomic

func clinux_futex_wait(_ word: UnsafePointer<UInt32>!, _ expected: UInt32, _ timeout: Int64) -> Int32 {
    ExploredSystem.futexWait(word, expected, timeout)
}

func clinux_futex_wake(_ word: UnsafePointer<UInt32>!, _ count: Int32) { ExploredSystem.futexWake(word, count) }

func clinux_spin_hint() { ExploredSystem.spin() }

@discardableResult
func clock_gettime(_ clock: clockid_t, _ time: UnsafeMutablePointer<timespec>) -> Int32 {
    time.pointee = timespec(
        tv_sec: Int(ExploredSystem.now / 1_000_000_000), tv_nsec: Int(ExploredSystem.now % 1_000_000_000))
    return 0
}
