//! GAPIC YAML: of schema 1 all that is about retries, of schema 2 polling and batching.

mod batching;
mod polling;
mod read;

pub(crate) use read::read_gapic_yaml;
