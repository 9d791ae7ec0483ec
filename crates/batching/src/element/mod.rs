//! An element: its size and key, its future, its reply or error.

mod error;
mod future;
mod interned;
mod reader;

pub(crate) use error::BatchDetail;
pub use error::{ElementError, ElementFailure};
pub(crate) use future::ElementResult;
pub use future::{Batched, ElementFuture};
pub(crate) use reader::{ElementReader, Key};
