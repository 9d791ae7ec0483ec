//! A file's values with their places, whatever the file's syntax.

#[cfg(feature = "yaml")]
mod continuation;
mod json;
mod node;
#[cfg(not(all(feature = "yaml", feature = "toml", feature = "http")))]
mod not_built_in;
mod source;
mod texts;
#[cfg(feature = "toml")]
mod toml;
#[cfg(feature = "toml")]
mod toml_pieces;
#[cfg(feature = "yaml")]
mod yaml;

#[cfg(feature = "clients")]
pub(crate) use json::json_node;
pub(crate) use json::{Strictness, read_json};
#[cfg(any(feature = "convert", feature = "http"))]
pub(crate) use node::last_of_each;
pub(crate) use node::{Kind, Located, Member, Node, Span};
#[cfg(not(all(feature = "yaml", feature = "toml", feature = "http")))]
pub(crate) use not_built_in::not_built_in;
#[cfg(not(feature = "toml"))]
pub(crate) use not_built_in::read_toml;
#[cfg(not(feature = "yaml"))]
pub(crate) use not_built_in::read_yaml;
pub(crate) use source::Source;
#[cfg(feature = "toml")]
pub(crate) use toml::read_toml;
#[cfg(feature = "yaml")]
pub(crate) use yaml::read_yaml;
