//! A remark with its place.

use gax_table::Severity;

/// A remark.
#[derive(Debug, Clone)]
pub(crate) struct Notice<'a> {
    pub(crate) rule: &'a str,
    pub(crate) severity: Severity,
    pub(crate) text: String,
    /// The file and the place in it, if the remark has one.
    pub(crate) place: Option<NoticePlace<'a>>,
    /// Its subject: a method, such as `pkg.Service/Method`.
    pub(crate) name: Option<&'a str>,
}

/// A place in a file: line and column, from 1. The end is exclusive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoticePlace<'a> {
    pub(crate) file: &'a str,
    pub(crate) start: (usize, usize),
    pub(crate) end: Option<(usize, usize)>,
}

/// A kind of remarks.
#[derive(Debug)]
pub(crate) struct NoticeRule<'a> {
    pub(crate) id: &'a str,
    pub(crate) severity: Severity,
    pub(crate) summary: &'a str,
    pub(crate) help: &'a str,
    /// The page that has more, as a URI.
    pub(crate) page: String,
}
