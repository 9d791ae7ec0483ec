//! Settings that are replaced while a program runs, and read from a file whenever it changes (feature `watch`).
//!
//! A `SettingsHandle` holds a retry table. A `RetryLayer`, a generated client or an
//! `HttpRetryLayer` that follows it runs each operation by the table that the handle has when the operation begins.

mod error;
mod event;
mod handle;
mod replacement;
mod warning;
#[cfg(feature = "watch")]
mod watch;

pub use error::ReplaceError;
pub use event::SettingsEvent;
pub use handle::SettingsHandle;
pub use warning::SettingsWarning;
#[cfg(feature = "watch")]
pub use watch::{Watch, watch};
