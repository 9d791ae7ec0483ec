//! How attempts fail: what errors mean, and the error of an operation.

mod cause;
mod connections;
mod error;
#[cfg(feature = "reqwest")]
mod first_hop;

pub(crate) use cause::{BodyNotOpened, Cause, NoBody, Part, classify};
pub(crate) use connections::Connections;
pub(crate) use error::Broken;
pub use error::HttpError;
#[cfg(feature = "reqwest")]
pub(crate) use first_hop::FirstHop;
