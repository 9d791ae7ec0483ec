//! Settings and reports as programs store them (feature `serde`), in the words of tables in TOML.

mod call;
mod codes;
mod duration;
mod parts;
mod rows;
#[cfg(test)]
mod tests;

pub use call::StoredCall;
pub use duration::Milliseconds;
