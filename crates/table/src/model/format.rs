//! In which form a table is written.

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

gax_text::names! {
    /// Every format.
    pub const ALL;
    /// The name in the form that flags use, such as `grpc`.
    pub fn as_str for TableFormat {
        ServiceConfig = "grpc",
        GapicYaml = "gapic",
        ClientConfig = "client-config",
        Toml = "toml",
        OpenApi = "openapi",
    }
}

gax_text::parsed_by_name! {
    TableFormat, ParseTableFormatError,
    "is not a format of retry tables (grpc, gapic, client-config, toml or openapi)"
}
