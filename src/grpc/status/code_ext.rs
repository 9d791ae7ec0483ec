//! gRPC status codes of this crate and of tonic.

use crate::grpc::status::received;
use gax_retry::Code;

/// Turns codes of tonic into codes of this crate and back.
///
/// Wherever this crate takes codes, it takes tonic's codes too. You need these methods for codes that this crate
/// returns, and for `match`.
///
/// # Examples
///
/// ```
/// use tonic_gax::{Code, CodeExt};
///
/// let status = tonic::Status::unavailable("not now");
/// assert_eq!(status.code().to_gax(), Code::Unavailable);
/// assert_eq!(Code::Aborted.to_tonic(), tonic::Code::Aborted);
/// ```
pub trait CodeExt: Copy {
    /// The code as one of this crate.
    fn to_gax(self) -> Code;

    /// The code as one of tonic.
    fn to_tonic(self) -> tonic::Code;
}

impl CodeExt for tonic::Code {
    fn to_gax(self) -> Code {
        Code::from_wire(self as i32)
    }

    fn to_tonic(self) -> tonic::Code {
        self
    }
}

impl CodeExt for Code {
    fn to_gax(self) -> Code {
        self
    }

    fn to_tonic(self) -> tonic::Code {
        received::tonic_code(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_goes_there_and_back() {
        for code in Code::ALL {
            assert_eq!(code.to_tonic().to_gax(), code);
            assert_eq!(code.to_tonic() as i32, code.number());
            assert_eq!((code.to_gax(), code.to_tonic().to_tonic()), (code, code.to_tonic()));
        }
    }
}
