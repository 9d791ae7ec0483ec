//! gRPC status codes and sets of them.

use std::fmt;
use std::str::FromStr;

/// A gRPC status code, as numbered by the gRPC specification and `google.rpc.Code`.
///
/// # Examples
///
/// ```
/// # use gax_retry as tonic_gax;
/// use tonic_gax::Code;
///
/// assert_eq!("unavailable".parse::<Code>()?, Code::Unavailable);
/// assert_eq!(Code::try_from(4)?, Code::DeadlineExceeded);
/// assert_eq!(Code::Aborted.to_string(), "ABORTED");
/// # Ok::<(), gax_retry::ParseCodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[expect(clippy::exhaustive_enums, reason = "the gRPC specification closes the list at 17 codes")]
pub enum Code {
    /// 0: success.
    Ok = 0,
    /// 1: the caller gave up.
    Cancelled = 1,
    /// 2: no better code is known.
    Unknown = 2,
    /// 3: the request is wrong whatever the state of the system.
    InvalidArgument = 3,
    /// 4: time ran out before the reply came.
    DeadlineExceeded = 4,
    /// 5: a named thing does not exist.
    NotFound = 5,
    /// 6: a thing to be created exists.
    AlreadyExists = 6,
    /// 7: the caller may not do this.
    PermissionDenied = 7,
    /// 8: a quota or resource is used up.
    ResourceExhausted = 8,
    /// 9: the system is not in the state that the call needs.
    FailedPrecondition = 9,
    /// 10: a conflict, such as a lost transaction.
    Aborted = 10,
    /// 11: past the valid range.
    OutOfRange = 11,
    /// 12: the method is not implemented.
    Unimplemented = 12,
    /// 13: an invariant of the server is broken.
    Internal = 13,
    /// 14: the service can't be reached just now.
    Unavailable = 14,
    /// 15: data is lost or damaged for good.
    DataLoss = 15,
    /// 16: no valid credentials.
    Unauthenticated = 16,
}

gax_text::names! {
    /// The name as `google.rpc.Code` spells it, such as `DEADLINE_EXCEEDED`.
    pub fn name for Code {
        Ok = "OK",
        Cancelled = "CANCELLED",
        Unknown = "UNKNOWN",
        InvalidArgument = "INVALID_ARGUMENT",
        DeadlineExceeded = "DEADLINE_EXCEEDED",
        NotFound = "NOT_FOUND",
        AlreadyExists = "ALREADY_EXISTS",
        PermissionDenied = "PERMISSION_DENIED",
        ResourceExhausted = "RESOURCE_EXHAUSTED",
        FailedPrecondition = "FAILED_PRECONDITION",
        Aborted = "ABORTED",
        OutOfRange = "OUT_OF_RANGE",
        Unimplemented = "UNIMPLEMENTED",
        Internal = "INTERNAL",
        Unavailable = "UNAVAILABLE",
        DataLoss = "DATA_LOSS",
        Unauthenticated = "UNAUTHENTICATED",
    }
}

impl Code {
    /// Every code, in the order of their numbers.
    pub const ALL: [Code; 17] = [
        Code::Ok,
        Code::Cancelled,
        Code::Unknown,
        Code::InvalidArgument,
        Code::DeadlineExceeded,
        Code::NotFound,
        Code::AlreadyExists,
        Code::PermissionDenied,
        Code::ResourceExhausted,
        Code::FailedPrecondition,
        Code::Aborted,
        Code::OutOfRange,
        Code::Unimplemented,
        Code::Internal,
        Code::Unavailable,
        Code::DataLoss,
        Code::Unauthenticated,
    ];

    /// The number on the wire.
    #[must_use]
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The code of that number; `UNKNOWN` for a number outside 0 to 16, as the gRPC specification
    /// tells clients to read it.
    #[inline]
    #[must_use]
    pub fn from_wire(number: i32) -> Self {
        Self::of_number(number).unwrap_or(Code::Unknown)
    }

    #[inline]
    fn of_number(number: i32) -> Option<Self> {
        usize::try_from(number).ok().and_then(|index| Code::ALL.get(index).copied())
    }
}

impl From<Code> for i32 {
    fn from(code: Code) -> i32 {
        code.number()
    }
}

/// For iterators over references, such as those of a slice.
impl From<&Code> for i32 {
    fn from(code: &Code) -> i32 {
        code.number()
    }
}

impl FromStr for Code {
    type Err = ParseCodeError;

    /// Reads a name, whatever its case (gRFC A6 allows any).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Code::ALL
            .into_iter()
            .find(|code| code.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| ParseCodeError { text: text.to_owned() })
    }
}

impl TryFrom<i32> for Code {
    type Error = ParseCodeError;

    fn try_from(number: i32) -> Result<Self, Self::Error> {
        Code::of_number(number).ok_or_else(|| ParseCodeError { text: number.to_string() })
    }
}

/// A name or number that is none of the 17 codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseCodeError {
    text: String,
}

gax_text::error_text! { ParseCodeError { text }, "{text:?} is not a gRPC status code (a name such as UNAVAILABLE, or a number from 0 to 16)" }

impl ParseCodeError {
    /// The name or number that was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A set of [`Code`]s, kept in the bits of one integer.
///
/// # Examples
///
/// ```
/// # use gax_retry as tonic_gax;
/// use tonic_gax::{Code, CodeSet};
///
/// let codes = CodeSet::from([Code::Unavailable, Code::DeadlineExceeded]);
/// assert!(codes.contains(Code::Unavailable));
/// assert_eq!(codes.to_string(), "DEADLINE_EXCEEDED, UNAVAILABLE");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CodeSet(u32);

impl CodeSet {
    /// The set with nothing in it: no status is retried.
    pub const EMPTY: CodeSet = CodeSet(0);

    /// Returns whether the code is in the set.
    #[inline]
    #[must_use]
    pub const fn contains(self, code: Code) -> bool {
        self.0 & (1 << code as u32) != 0
    }

    /// The set with one code more.
    #[must_use]
    pub const fn with(self, code: Code) -> Self {
        CodeSet(self.0 | (1 << code as u32))
    }

    /// Returns whether nothing is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many codes the set has.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The codes of the set, in the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = Code> {
        Code::ALL.into_iter().filter(move |code| self.contains(*code))
    }
}

impl FromIterator<Code> for CodeSet {
    fn from_iter<I: IntoIterator<Item = Code>>(codes: I) -> Self {
        codes.into_iter().fold(CodeSet::EMPTY, CodeSet::with)
    }
}

impl<const N: usize> From<[Code; N]> for CodeSet {
    fn from(codes: [Code; N]) -> Self {
        codes.into_iter().collect()
    }
}

impl From<Vec<Code>> for CodeSet {
    fn from(codes: Vec<Code>) -> Self {
        codes.into_iter().collect()
    }
}

impl From<Code> for CodeSet {
    fn from(code: Code) -> Self {
        CodeSet::EMPTY.with(code)
    }
}

impl fmt::Debug for CodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl fmt::Display for CodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.iter().map(Code::name).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_read_from_its_name_in_any_case_and_from_its_number() {
        for (number, code) in (0..).zip(Code::ALL) {
            assert_eq!(code.name().parse::<Code>(), Ok(code));
            assert_eq!(code.name().to_lowercase().parse::<Code>(), Ok(code));
            assert_eq!(Code::try_from(number), Ok(code));
            assert_eq!(code.number(), number);
        }
    }

    #[test]
    fn what_is_no_code_is_refused_with_its_text() {
        for wrong in ["", "UNAVAILABLE ", "OKAY", "14"] {
            let error = wrong.parse::<Code>().unwrap_err().to_string();
            assert!(error.contains(&format!("{wrong:?}")), "{error}");
        }
        assert!(Code::try_from(17).is_err());
        assert!(Code::try_from(-1).is_err());
        assert_eq!(Code::from_wire(99), Code::Unknown);
    }

    #[test]
    fn a_set_keeps_each_code_once_and_in_order() {
        let set = CodeSet::from([Code::Unavailable, Code::Ok, Code::Unavailable]);
        assert_eq!(set.len(), 2);
        assert_eq!(set.iter().collect::<Vec<_>>(), [Code::Ok, Code::Unavailable]);
        assert_eq!(format!("{set:?}"), "{Ok, Unavailable}");
        assert!(CodeSet::EMPTY.is_empty());
        assert!(!set.contains(Code::Unauthenticated));
    }
}
