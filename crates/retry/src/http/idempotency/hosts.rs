//! The hosts of Cloud Storage.

use std::borrow::Cow;

/// Where the JSON API is, and XML requests whose bucket is in the path: a `*` stands for a part of one label. Behind a bucket's own
/// host, such as `photos.storage.googleapis.com`, there is the XML API alone.
const HOSTS: [&str; 9] = [
    "storage.googleapis.com",
    "www.googleapis.com",
    // Private Service Connect.
    "*.p.googleapis.com",
    // Regions.
    "storage.*.rep.googleapis.com",
    "storage.mtls.googleapis.com",
    "www.mtls.googleapis.com",
    // Other universes.
    "storage.apis-*.goog",
    "storage.*.apis-*.goog",
    "storage.s3nsapis.fr",
];

/// Returns whether a host is one of Cloud Storage's, or of the program's own, with a port or for any.
pub(super) fn is_storage(host: &str, own: &[Cow<'static, str>]) -> bool {
    let (name, _) = split_port(host);
    let is_own = |known: &Cow<'static, str>| [host, name].iter().any(|host| host.eq_ignore_ascii_case(known));
    own.iter().any(is_own) || HOSTS.iter().any(|pattern| matches(pattern, name.trim_end_matches('.')))
}

/// A host without its port, and the port.
pub(super) fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => (name, Some(port)),
        _ => (host, None),
    }
}

/// Returns whether a host without a port is as the pattern says.
pub(super) fn matches(pattern: &str, host: &str) -> bool {
    by_label(pattern, host, matches_label)
}

/// Returns whether all hosts that a pattern matches are matched by the first one.
pub(super) fn covers(pattern: &str, other: &str) -> bool {
    by_label(pattern, other, |label, other| match other.strip_suffix('*') {
        None => matches_label(label, other),
        Some(start) => label.strip_suffix('*').is_some_and(|own| starts_with(start, own)),
    })
}

fn by_label(pattern: &str, host: &str, is_label: impl Fn(&str, &str) -> bool) -> bool {
    let (mut labels, mut own) = (pattern.split('.'), host.split('.'));
    loop {
        match (labels.next(), own.next()) {
            (None, None) => return true,
            (Some(label), Some(own)) if is_label(label, own) => {}
            _ => return false,
        }
    }
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start))
}

fn matches_label(pattern: &str, label: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern.eq_ignore_ascii_case(label),
        Some((start, _)) => label.len() > start.len() && starts_with(label, start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_of_cloud_storage_and_no_bucket_s() {
        let own = [Cow::Borrowed("localhost:9000"), Cow::Borrowed("emulator")];
        for (host, expected) in [
            ("storage.googleapis.com", true),
            ("Storage.GoogleAPIs.com:443", true),
            ("storage.googleapis.com.", true),
            ("www.googleapis.com", true),
            ("storage-vialink1.p.googleapis.com", true),
            ("storage.us-central1.rep.googleapis.com", true),
            ("storage.mtls.googleapis.com", true),
            ("storage.apis-tpczero.goog", true),
            ("localhost:9000", true),
            ("emulator", true),
            ("emulator:1", true),
            ("photos.storage.googleapis.com", false),
            ("photos.storage-vialink1.p.googleapis.com", false),
            ("localhost", false),
            ("localhost:9001", false),
            ("compute.googleapis.com", false),
            ("storage.example.com", false),
            ("evilstorage.googleapis.com", false),
            ("storage.apis-.goog", false),
            (".p.googleapis.com", false),
            ("", false),
            ("[::1]:443", false),
        ] {
            assert_eq!(is_storage(host, &own), expected, "{host}");
        }
    }
}
