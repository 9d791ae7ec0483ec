//! Segments of paths.

/// Returns whether a value for a path has a segment of only dots. Clients and proxies would remove it together with the previous segment,
/// even if it is encoded.
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
