//! Status codes, by name or number.

use gax_retry::{Code, CodeSet};
use gax_text::closest;

/// A list of codes as one flag takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Codes(pub(crate) CodeSet);

/// Reads `UNAVAILABLE,14,aborted`: names in any case or numbers, with commas in between. Empty text is not a code.
pub(crate) fn codes(text: &str) -> Result<Codes, String> {
    if text.trim().is_empty() {
        return Ok(Codes(CodeSet::EMPTY));
    }
    let codes = text.split(',').map(|part| failure_code(part.trim())).collect::<Result<CodeSet, String>>()?;
    Ok(Codes(codes))
}

pub(crate) fn failure_code(text: &str) -> Result<Code, String> {
    match code(text) {
        Some(Code::Ok) => Err("contains OK, which is a success and never retried; leave it out".to_owned()),
        Some(code) => Ok(code),
        None => Err(match closest(text, Code::ALL.map(Code::name)) {
            Some(close) => {
                format!("contains {text:?}, which is not a gRPC status code; did you mean {close}?")
            }
            None => format!(
                "contains {text:?}, which is not a gRPC status code; write names such as UNAVAILABLE, or numbers from \
                 1 to 16, with commas in between"
            ),
        }),
    }
}

/// One code: its name in any case, or its number.
pub(super) fn code(text: &str) -> Option<Code> {
    match text.parse::<i32>() {
        Ok(number) => Code::try_from(number).ok(),
        Err(_) => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_mix() {
        let expected = CodeSet::from([Code::Unavailable, Code::DeadlineExceeded, Code::Aborted]);
        assert_eq!(codes("unavailable, 4,ABORTED"), Ok(Codes(expected)));
        assert_eq!(codes(""), Ok(Codes(CodeSet::EMPTY)));
    }

    #[test]
    fn the_wrong_part_is_named() {
        for (text, part) in
            [("UNAVAILABLE,17", "\"17\""), ("UNAVAILBLE", "\"UNAVAILBLE\""), ("4,,14", "\"\"")]
        {
            let error = codes(text).unwrap_err();
            assert!(error.starts_with(&format!("contains {part}")), "{error}");
        }
        assert!(codes("UNAVAILBLE").unwrap_err().ends_with("; did you mean UNAVAILABLE?"));
        assert!(codes("OK").unwrap_err().starts_with("contains OK"));
    }
}
