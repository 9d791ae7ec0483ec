//! Formats that this build does not read.

use crate::TableError;
#[cfg(not(all(feature = "yaml", feature = "toml")))]
use crate::document::{Node, Source, Span};

#[cfg(not(feature = "yaml"))]
pub(crate) fn read_yaml(source: &Source) -> Result<Node, TableError> {
    Err(not_built_in("YAML", "yaml").at(source.origin(Span::default()), String::new()))
}

#[cfg(not(feature = "toml"))]
pub(crate) fn read_toml(source: &Source) -> Result<Node, TableError> {
    Err(not_built_in("TOML", "toml").at(source.origin(Span::default()), String::new()))
}

/// The error of a format that a feature adds. Other crates that read tables call theirs by the same name.
pub(crate) fn not_built_in(format: &str, feature: &str) -> TableError {
    let by_builds = if feature == "http" { "" } else { ", in a build script that of tonic-gax-build" };
    TableError::new(format!("the file looks like {format}, which this build does not read"))
        .with_help(format!("enable the feature {feature:?} of gax-table{by_builds}"))
}
