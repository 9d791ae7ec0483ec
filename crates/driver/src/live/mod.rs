//! Settings that are replaced while a program runs (feature `live`), and read from a file whenever it changes (feature
//! `watch`).
//!
//! A `SettingsHandle` holds a retry table. A `RetryLayer`, a generated client or an
//! `HttpRetryLayer` made with it runs each operation by the table that the handle has when the operation begins.

#[cfg(feature = "live")]
mod error;
#[cfg(feature = "live")]
mod event;
#[cfg(feature = "live")]
pub(crate) mod follower;
#[cfg(feature = "live")]
mod handle;
#[cfg(feature = "live")]
pub(crate) mod known_methods;
pub(crate) mod replaceable;
#[cfg(feature = "live")]
mod replacement;
mod source;
pub(crate) mod unknown_methods;
#[cfg(feature = "live")]
mod warning;
#[cfg(feature = "watch")]
mod watch;
#[cfg(feature = "live")]
pub(crate) mod watch_state;

#[cfg(feature = "live")]
pub use error::ReplaceError;
#[cfg(feature = "live")]
pub use event::SettingsEvent;
#[cfg(feature = "live")]
pub use handle::SettingsHandle;
pub use source::SettingsSource;
pub use unknown_methods::UnknownMethodsError;
#[cfg(feature = "live")]
pub use warning::SettingsWarning;
#[cfg(feature = "watch")]
pub use watch::{Watch, watch};
