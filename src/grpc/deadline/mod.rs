//! A server's layer: the deadline of each request bounds what is done for it.
#![warn(missing_docs, missing_debug_implementations, clippy::missing_errors_doc, clippy::must_use_candidate)]

mod body;
mod layer;

pub use body::DeadlineBody;
pub use layer::{DeadlineFuture, DeadlineLayer, DeadlineService};
