//! The [notes](Note) that only operations over HTTP have.

use gax_driver::Note;

/// The HTTP client below followed redirects, so an attempt was more than one request. reqwest doesn't expose how many.
pub const FOLLOWED_REDIRECTS: Note = Note::new(&(
    "http.followed_redirects",
    "the client followed redirects: an attempt was more than one request",
));
/// The path is one of Cloud Storage, and its host was not named (`with_host`): HTTP's rules for methods decided whether the
/// request is safe to retry.
pub const STORAGE_HOST_NOT_NAMED: Note = Note::new(&(
    "http.storage_host_not_named",
    "a path of Cloud Storage on a host that was not named: its rules were not applied (see with_host)",
));
