//! Dialects of retry tables, as a flag names them.

use clap::ValueEnum;
use gax_table::Dialect;

/// Which client's interpretation of a retry table to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectName {
    /// Exactly what the table says (the default)
    AsWritten,
    /// As Google's Java generator reads it
    GaxJava,
    /// As gRPC itself reads it
    Grpc,
}

impl From<DialectName> for Dialect {
    fn from(name: DialectName) -> Self {
        match name {
            DialectName::AsWritten => Dialect::AsWritten,
            DialectName::GaxJava => Dialect::GaxJava,
            DialectName::Grpc => Dialect::Grpc,
        }
    }
}
