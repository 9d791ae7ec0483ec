//! `*_client_config.json`, as Google's Node generator writes it.

mod read;

pub(crate) use read::read_client_config;
