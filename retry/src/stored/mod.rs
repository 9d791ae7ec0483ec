//! Settings and reports as programs store them (feature `serde`), in the words of tables in TOML.

mod budget;
mod call;
mod codes;
mod duration;
#[cfg(feature = "http")]
mod http_options;
mod numbers;
mod options;
mod override_words;
mod parts;
mod rows;
#[cfg(test)]
mod tests;

pub use call::StoredCall;
pub use duration::Milliseconds;
#[cfg(feature = "http")]
pub use http_options::StoredHttpOptions;
pub use options::StoredOptions;
