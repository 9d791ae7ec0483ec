//! Downloads.

mod builder;
mod exchange;
mod exclusive;
mod file;
mod head;
mod options;
mod received;
mod receiver;
mod sink;
mod state;
#[cfg(test)]
mod tests;

pub use builder::Download;
