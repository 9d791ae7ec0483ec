//! Values that have a name, such as the dialects of retry tables.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use gax_table::Dialect;
use std::error::Error;
use std::str::FromStr;

/// Reads one of these names, each with what the help says of it.
pub(crate) fn named<T, const N: usize>(
    names: [(&'static str, &'static str); N],
) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: Error + Send + Sync + 'static> + Clone + Send + Sync + 'static,
{
    let values = names.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<T>())
}

/// Which client's interpretation of a retry table to use.
pub(crate) fn dialect() -> impl TypedValueParser<Value = Dialect> {
    named([
        ("as-written", "Exactly what the table says (the default)"),
        ("gax-java", "As Google's Java generator reads it"),
        ("grpc", "As gRPC itself reads it"),
    ])
}
