//! This project's own form of retry tables: TOML with `[[entry]]`.

mod allow;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod http_policy;
mod inherit;
mod names;
mod polling;
mod read;
#[cfg(test)]
mod schema_tests;

pub(crate) use read::read_toml_table;
