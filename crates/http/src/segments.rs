//! Segments of paths.

/// Whether a value that goes into a path has a segment of dots alone. Clients and proxies would take it out, and with it the segment
/// before, also where it is encoded.
#[must_use]
pub fn has_dots(value: &str) -> bool {
    value.split('/').any(|segment| matches!(segment, "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_dots_alone() {
        for value in [".", "..", "a/..", "../a", "a/./b"] {
            assert!(has_dots(value), "{value}");
        }
        for value in ["", "/", "...", "a", ".a", "a.", "a/..b", "a../b"] {
            assert!(!has_dots(value), "{value}");
        }
    }
}
