//! Downloads.

mod download;
mod downloaded;
mod exchange;
mod file;
mod head;
mod receiver;
mod sink;

pub use download::Download;
pub use downloaded::Downloaded;
