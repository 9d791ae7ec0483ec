//! Values as text.

mod json;
mod yaml;

pub(super) use json::{json_text, member, number_text, quoted, string, value};
pub(super) use yaml::yaml_text;
