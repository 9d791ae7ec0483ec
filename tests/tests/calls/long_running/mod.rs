//! Long-running operations, polled in virtual time.

mod cancel;
mod ends;
mod names;
mod observed;
mod over_closures;
mod progress;
mod recorded;
mod replies;
mod restarts;
mod settings;
mod waits;
