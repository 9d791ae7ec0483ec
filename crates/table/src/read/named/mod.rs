//! Tables whose methods name a set of codes and a set of settings, each defined once for its service:
//! GAPIC YAML of schema 1 and client configs of Google's Node generator.

mod read;
mod resolve;
mod table;

pub(crate) use read::{read_codes, read_params};
pub(crate) use resolve::resolve_named;
pub(crate) use table::{NamedMethod, NamedService};
