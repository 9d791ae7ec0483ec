//! How attempts fail: what errors mean, and the error of an operation.

mod cause;
mod connections;
mod error;
#[cfg(feature = "reqwest")]
mod first_hop;

pub(crate) use cause::{BodyNotOpened, Cause, NoBody};
pub use cause::{Part, classify};
pub(crate) use connections::Connections;
pub use error::HttpError;
pub use error::{Broken, without_url};
#[cfg(feature = "reqwest")]
pub(crate) use first_hop::FirstHop;
