//! A server's layer: the deadline of each request bounds what is done for it.

mod body;
mod layer;

pub use body::DeadlineBody;
pub use layer::{DeadlineFuture, DeadlineLayer, DeadlineService};
