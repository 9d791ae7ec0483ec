//! Who reads a table, and so what it means.

use gax_retry::Compatibility;

/// Which client's interpretation of a retry table is used.
///
/// A `*_grpc_service_config.json` means different things to different readers: Google's Java
/// generator ignores `maxAttempts` and makes every attempt's timeout the total; gRPC itself caps
/// attempts at five and refuses a whole file for one faulty policy.
///
/// # Examples
///
/// ```
/// use gax_table::Dialect;
///
/// assert_eq!("gax-java".parse(), Ok(Dialect::GaxJava));
/// assert_eq!(Dialect::default().to_string(), "as-written");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Dialect {
    /// The file's literal values: exact multipliers, `maxAttempts` and `{}` are applied. An invalid part is an error,
    /// and a part without effect a finding.
    #[default]
    AsWritten,
    /// The file as Google's Java generator reads it, and a file that it drops without a message is dropped
    /// with a warning.
    GaxJava,
    /// A service config as gRPC itself reads it (gRFC A6): strict, whole or not at all, five attempts at
    /// most, no timeout of single attempts.
    Grpc,
}

gax_text::names! {
    /// Every dialect, the default first.
    pub const ALL;
    /// The name in the form that flags and files use, such as `as-written`.
    pub fn as_str for Dialect {
        AsWritten = "as-written",
        GaxJava = "gax-java",
        Grpc = "grpc",
    }
}

impl Dialect {
    /// Which rules turn the settings into attempts if the dialect's own client makes the calls.
    ///
    /// Calls of `tonic-gax` follow [`Compatibility::GaxJava`] only if a program asks for it.
    #[must_use]
    pub const fn compatibility(self) -> Compatibility {
        match self {
            Dialect::AsWritten => Compatibility::Documented,
            Dialect::GaxJava => Compatibility::GaxJava,
            Dialect::Grpc => Compatibility::Grpc,
        }
    }

    /// Which rules calls follow with a table in the dialect, unless the program names others: gRPC's own, or those of the
    /// documentation.
    #[must_use]
    pub const fn default_compatibility(self) -> Compatibility {
        match self {
            Dialect::Grpc => Compatibility::Grpc,
            Dialect::AsWritten | Dialect::GaxJava => Compatibility::Documented,
        }
    }
}

gax_text::parsed_by_name! { Dialect, ParseDialectError, "is not a dialect (as-written, gax-java or grpc)" }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_is_read_from_its_own_name() {
        for dialect in Dialect::ALL {
            assert_eq!(dialect.to_string().parse(), Ok(*dialect));
        }
        assert_eq!(
            "java".parse::<Dialect>().unwrap_err().to_string(),
            "\"java\" is not a dialect (as-written, gax-java or grpc)"
        );
    }
}
