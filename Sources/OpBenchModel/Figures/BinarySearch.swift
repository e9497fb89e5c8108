extension RandomAccessCollection where Index == Int {
    /// The first index whose element has a property; the end if none has.
    ///
    /// - Parameter property: false for the first elements and true for all others.
    package func partition(_ property: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if property(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
