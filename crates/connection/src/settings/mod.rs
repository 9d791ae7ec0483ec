//! Settings: how connections are made and chosen.

mod backoff;
mod http2;
mod picker;
mod pool_settings;

pub use backoff::ConnectBackoff;
pub(crate) use backoff::Waits;
pub(crate) use http2::BoxedTasks;
pub use http2::Http2;
pub use picker::{Ejection, Picker};
pub(crate) use pool_settings::{ChosenSettings, PoolSettings};
