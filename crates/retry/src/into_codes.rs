//! The types that can be passed where codes are expected.

use crate::{Code, CodeSet, ParseCodeError};

/// A value for a parameter that takes codes: one code, several codes, or a [`CodeSet`].
///
/// A code is a [`Code`], the code of another crate (`tonic::Code`), or its number: anything that is `Into<i32>`.
/// Several of them are an array, a vector or any other iterator. For no codes, write [`CodeSet::EMPTY`], because the
/// type of an empty array can't be inferred.
///
/// A number that isn't a code is an error of the function that uses it: of its `build()` or, if there is none, of
/// each operation, which ends with [`StopReason::InvalidOptions`](crate::StopReason::InvalidOptions) before anything
/// is sent.
///
/// The parameter `Kind` distinguishes these forms. It is always inferred.
///
/// # Examples
///
/// ```
/// use gax_retry::{Code, CodeSet, IntoCodes, ParseCodeError};
///
/// fn set<K>(codes: impl IntoCodes<K>) -> Result<CodeSet, ParseCodeError> {
///     codes.into_codes()
/// }
///
/// let both = CodeSet::from([Code::Aborted, Code::Unavailable]);
/// assert_eq!(set([Code::Aborted, Code::Unavailable])?, both);
/// assert_eq!(set(vec![10, 14])?, both);
/// assert_eq!(set(both)?, both);
/// assert_eq!(set(Code::Aborted)?, CodeSet::from(Code::Aborted));
/// assert!(set([99]).is_err());
/// # Ok::<(), ParseCodeError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a gRPC status code, nor several of them",
    label = "codes are expected here",
    note = "give one code, an array or another iterator of codes (of gax-retry, of tonic, or numbers), or a `CodeSet`",
    note = "for no codes, write `CodeSet::EMPTY`"
)]
pub trait IntoCodes<Kind> {
    /// The set of these codes.
    ///
    /// # Errors
    ///
    /// One of them is a number outside 0 to 16.
    fn into_codes(self) -> Result<CodeSet, ParseCodeError>;
}

/// A [`CodeSet`] as it is.
#[derive(Debug)]
pub enum Set {}

/// One code.
#[derive(Debug)]
pub enum One {}

/// Several codes.
#[derive(Debug)]
pub enum Many {}

/// Codes that were checked already.
#[derive(Debug)]
pub enum Checked {}

impl IntoCodes<Checked> for Result<CodeSet, ParseCodeError> {
    fn into_codes(self) -> Result<CodeSet, ParseCodeError> {
        self
    }
}

impl IntoCodes<Set> for CodeSet {
    fn into_codes(self) -> Result<CodeSet, ParseCodeError> {
        Ok(self)
    }
}

impl<C: Into<i32>> IntoCodes<One> for C {
    fn into_codes(self) -> Result<CodeSet, ParseCodeError> {
        Code::try_from(self.into()).map(CodeSet::from)
    }
}

impl<I> IntoCodes<Many> for I
where
    I: IntoIterator,
    I::Item: Into<i32>,
{
    fn into_codes(self) -> Result<CodeSet, ParseCodeError> {
        self.into_iter().map(|code| Code::try_from(code.into())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set<K>(codes: impl IntoCodes<K>) -> Result<CodeSet, ParseCodeError> {
        codes.into_codes()
    }

    /// Another crate's codes.
    #[derive(Clone, Copy)]
    struct Foreign;

    impl From<Foreign> for i32 {
        fn from(_: Foreign) -> i32 {
            8
        }
    }

    #[test]
    fn every_form_makes_the_same_set() {
        let exhausted = CodeSet::from(Code::ResourceExhausted);
        assert_eq!(set(Code::ResourceExhausted), Ok(exhausted));
        assert_eq!(set(Foreign), Ok(exhausted));
        assert_eq!(set(8), Ok(exhausted));
        assert_eq!(set(8_u8), Ok(exhausted));
        assert_eq!(set([Foreign]), Ok(exhausted));
        assert_eq!(set(vec![8, 8]), Ok(exhausted));
        assert_eq!(set([Code::ResourceExhausted].as_slice().iter().copied()), Ok(exhausted));
        assert_eq!(set([Code::ResourceExhausted].as_slice()), Ok(exhausted));
        assert_eq!(set(exhausted), Ok(exhausted));
        assert_eq!(set(Some(Code::ResourceExhausted)), Ok(exhausted));
        assert_eq!(set(std::iter::empty::<Code>()), Ok(CodeSet::EMPTY));
    }

    #[test]
    fn a_number_that_is_no_code_is_an_error_that_names_it() {
        for wrong in [-1, 17, i32::MIN, i32::MAX] {
            let error = set([14, wrong]).unwrap_err();
            assert_eq!(error.text(), wrong.to_string());
            assert_eq!(set(wrong).unwrap_err(), error);
        }
    }
}
