//! How attempts fail: what errors mean, and the error of an operation.

mod cause;
mod connections;
mod error;

pub(crate) use cause::{BodyNotOpened, Cause, NoBody};
pub use cause::{Part, classify};
pub(crate) use connections::Connections;
pub use error::HttpError;
pub use error::{Broken, without_url};
