//! Which entry is for which name, and what the names of definitions are.

mod definition_names;
mod name_index;

pub(super) use definition_names::DefinitionNames;
pub(super) use name_index::{NameIndex, NamePlace};
