//! Tables whose methods name their definitions: GAPIC YAML of schema 1 and client configs.

mod client_config;
mod definitions;
mod fields;
mod gapic;
mod services;

pub(super) use client_config::write_client_config;
pub(super) use gapic::write_gapic;
