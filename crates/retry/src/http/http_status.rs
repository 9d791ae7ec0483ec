//! HTTP statuses as codes, and codes as HTTP statuses.

use crate::Code;

impl Code {
    /// The code that a response with that HTTP status is treated as: the one that gax-java's HTTP/JSON transport gives it
    /// (recorded from the library for every status from 100 to 599).
    ///
    /// Only the status decides, not a code in the body of the response. Informational responses, redirects and
    /// numbers that aren't a status are `UNKNOWN`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use gax_retry as tonic_gax;
    /// use tonic_gax::Code;
    ///
    /// assert_eq!(Code::from_http_status(204), Code::Ok);
    /// assert_eq!(Code::from_http_status(503), Code::Unavailable);
    /// assert_eq!(Code::from_http_status(408), Code::FailedPrecondition);
    /// ```
    #[must_use]
    pub const fn from_http_status(status: u16) -> Self {
        match status {
            200..=299 => Code::Ok,
            400 => Code::InvalidArgument,
            401 => Code::Unauthenticated,
            403 => Code::PermissionDenied,
            404 => Code::NotFound,
            409 => Code::Aborted,
            416 => Code::OutOfRange,
            429 => Code::ResourceExhausted,
            499 => Code::Cancelled,
            402..=498 => Code::FailedPrecondition,
            501 => Code::Unimplemented,
            503 => Code::Unavailable,
            504 => Code::DeadlineExceeded,
            500..=599 => Code::Internal,
            _ => Code::Unknown,
        }
    }

    /// The HTTP status for the code, by the mapping of `google.rpc.Code`.
    ///
    /// Converting back doesn't always return the same code: `DATA_LOSS` is 500, and 500 is `INTERNAL`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use gax_retry as tonic_gax;
    /// use tonic_gax::Code;
    ///
    /// assert_eq!(Code::NotFound.http_status(), 404);
    /// assert_eq!(Code::from_http_status(Code::AlreadyExists.http_status()), Code::Aborted);
    /// ```
    #[must_use]
    pub const fn http_status(self) -> u16 {
        match self {
            Code::Ok => 200,
            Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => 400,
            Code::Unauthenticated => 401,
            Code::PermissionDenied => 403,
            Code::NotFound => 404,
            Code::AlreadyExists | Code::Aborted => 409,
            Code::ResourceExhausted => 429,
            Code::Cancelled => 499,
            Code::Unknown | Code::Internal | Code::DataLoss => 500,
            Code::Unimplemented => 501,
            Code::Unavailable => 503,
            Code::DeadlineExceeded => 504,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Code;
    use serde_json::Value;

    /// The published library's results, for every status and every code.
    const RECORDED: &str = include_str!("tests/data/http_status_map.jsonl");

    fn code(case: &Value, field: &str) -> Option<Code> {
        case.get(field).map(|name| name.as_str().unwrap().parse().unwrap())
    }

    #[test]
    fn statuses_and_codes_map_as_recorded() {
        let (mut to_code, mut to_status) = (0, 0);
        for line in RECORDED.lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let Ok(status) = u16::try_from(case["http"].as_i64().unwrap()) else {
                assert_eq!(code(&case, "code"), Some(Code::Unknown), "{line}");
                continue;
            };
            if let Some(expected) = code(&case, "code") {
                assert_eq!(Code::from_http_status(status), expected, "{line}");
                to_code += 1;
            }
            if let Some(from) = code(&case, "code_to_http") {
                assert_eq!(from.http_status(), status, "{line}");
                assert_eq!(Some(Code::from_http_status(status)), code(&case, "round_trip"), "{line}");
                to_status += 1;
            }
        }
        assert_eq!((to_code, to_status), (505, 17));
    }
}
