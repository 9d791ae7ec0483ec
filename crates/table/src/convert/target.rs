//! The forms that a table can be written in.

use crate::TableFormat;
use std::fmt;

/// A form that a table can be written in: every [`TableFormat`], and configurations of proxies.
///
/// # Examples
///
/// ```
/// use gax_table::{ConversionTarget, TableFormat};
///
/// assert_eq!("envoy".parse(), Ok(ConversionTarget::Envoy));
/// assert_eq!("toml".parse(), Ok(ConversionTarget::Table(TableFormat::Toml)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConversionTarget {
    /// A table that this crate also reads. [`TableFormat::OpenApi`] is not a target: nothing is written, and a finding says
    /// so.
    Table(TableFormat),
    /// Envoy's `RouteConfiguration`, as YAML. Its routes lead to a cluster called `backend`.
    Envoy,
    /// Istio's `VirtualService`, as YAML. Its routes lead to a host called `backend`.
    Istio,
}

impl ConversionTarget {
    /// Every target.
    pub const ALL: &'static [ConversionTarget] = &[
        ConversionTarget::Table(TableFormat::ServiceConfig),
        ConversionTarget::Table(TableFormat::GapicYaml),
        ConversionTarget::Table(TableFormat::ClientConfig),
        ConversionTarget::Table(TableFormat::Toml),
        ConversionTarget::Envoy,
        ConversionTarget::Istio,
    ];

    /// The name in the form that flags use, such as `envoy`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ConversionTarget::Table(format) => format.as_str(),
            ConversionTarget::Envoy => "envoy",
            ConversionTarget::Istio => "istio",
        }
    }
}

impl From<TableFormat> for ConversionTarget {
    fn from(format: TableFormat) -> Self {
        ConversionTarget::Table(format)
    }
}

impl fmt::Display for ConversionTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

gax_text::parsed_by_name! {
    ConversionTarget, ParseConversionTargetError,
    "is not a format that a table can be written in (grpc, gapic, client-config, toml, envoy or istio)"
}
