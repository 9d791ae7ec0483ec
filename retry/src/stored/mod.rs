//! Settings and reports as programs store them (feature `serde`), in the words of tables in TOML.

mod budget;
mod call;
mod codes;
mod duration;
mod numbers;
mod options;
mod parts;
mod rows;
#[cfg(test)]
mod tests;

pub use call::StoredCall;
pub use duration::Milliseconds;
pub use options::StoredOptions;
