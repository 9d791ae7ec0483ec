//! In which form a table is written.

use std::fmt;
use std::str::FromStr;

/// The form in which a retry table is written.
///
/// # Examples
///
/// ```
/// use gax_table::TableFormat;
///
/// assert_eq!("gapic".parse(), Ok(TableFormat::GapicYaml));
/// assert_eq!(TableFormat::ServiceConfig.to_string(), "grpc");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum TableFormat {
    /// A gRPC service config: JSON with `methodConfig`.
    #[cfg_attr(feature = "serde", serde(rename = "grpc"))]
    ServiceConfig,
    /// GAPIC YAML: a list of `interfaces`.
    #[cfg_attr(feature = "serde", serde(rename = "gapic"))]
    GapicYaml,
    /// `*_client_config.json` of Google's Node generator: an object of `interfaces`.
    ClientConfig,
    /// This project's own form: TOML with `[[entry]]`.
    Toml,
    /// An OpenAPI document: rules for HTTP requests, without settings. It is read (feature `http`, in YAML with `yaml`), never written.
    #[cfg_attr(feature = "serde", serde(rename = "openapi"))]
    OpenApi,
}

impl TableFormat {
    /// Every format.
    pub const ALL: &'static [TableFormat] = &[
        TableFormat::ServiceConfig,
        TableFormat::GapicYaml,
        TableFormat::ClientConfig,
        TableFormat::Toml,
        TableFormat::OpenApi,
    ];

    /// The name in the form that flags use, such as `grpc`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            TableFormat::ServiceConfig => "grpc",
            TableFormat::GapicYaml => "gapic",
            TableFormat::ClientConfig => "client-config",
            TableFormat::Toml => "toml",
            TableFormat::OpenApi => "openapi",
        }
    }
}

impl fmt::Display for TableFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for TableFormat {
    type Err = ParseTableFormatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        TableFormat::ALL
            .iter()
            .copied()
            .find(|format| format.as_str() == text)
            .ok_or_else(|| ParseTableFormatError { text: text.to_owned() })
    }
}

/// A text that isn't the name of a [`TableFormat`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseTableFormatError {
    text: String,
}

gax_text::error_text! { ParseTableFormatError { text }, "{text:?} is not a format of retry tables (grpc, gapic, client-config, toml or openapi)" }
