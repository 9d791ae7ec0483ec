//! Versions in the names of services: `google.cloud.redis.v1beta1.CloudRedis`.

/// Returns whether a part of a name is a version, such as `v1`, `v1beta1`, `v1p2alpha3`.
pub(super) fn is_version(part: &str) -> bool {
    let mut rest = match part.strip_prefix('v') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => without_digits(rest),
        _ => return false,
    };
    for mark in ["p", "alpha", "beta", "eap", "test"] {
        if let Some(after) = rest.strip_prefix(mark) {
            rest = without_digits(after);
        }
    }
    rest.is_empty()
}

fn without_digits(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_digit())
}

/// The name without its versions.
pub(super) fn without_version(name: &str) -> String {
    let parts: Vec<&str> = name.split('.').filter(|part| !is_version(part)).collect();
    parts.join(".")
}

/// The package of a service's full name.
pub(super) fn package(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(package, _)| package)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_distinguished_from_other_parts() {
        for version in ["v1", "v12", "v1beta", "v1beta1", "v1p2alpha3", "v1p1beta1", "v2alpha"] {
            assert!(is_version(version), "{version}");
        }
        for other in ["v", "vision", "v1beta1CloudRedis", "1", "", "version1", "v1x"] {
            assert!(!is_version(other), "{other}");
        }
        assert_eq!(without_version("google.cloud.redis.v1beta1.CloudRedis"), "google.cloud.redis.CloudRedis");
        assert_eq!(package("a.v1.B"), "a.v1");
        assert_eq!(package("B"), "");
    }
}
