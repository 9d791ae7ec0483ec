//! Values as text.

mod json;
mod value;
mod yaml;

pub(super) use json::write_json;
pub(super) use value::{Field, Value, field, number_text, object, string, whole_number};
pub(super) use yaml::write_yaml;
