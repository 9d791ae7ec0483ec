//! How attempts fail: what errors mean, and the error of an operation.

mod cause;
mod connections;
mod error;

pub(crate) use cause::{Cause, NoBody, Part, Reach, classify};
pub(crate) use connections::Connections;
pub(crate) use error::Broken;
pub use error::HttpError;
