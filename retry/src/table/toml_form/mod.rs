//! This project's own form of retry tables: TOML with `[[entry]]`.

mod allow;
mod inherit;
mod names;
mod polling;
mod read;

pub(crate) use read::read_toml_table;
