//! A service of Google's, as its generated client knows it.

use crate::google::service_endpoint::ServiceEndpoint;

/// The options of a service, for generated code.
#[derive(Debug, Clone, Copy)]
pub struct ServiceInfo {
    default_host: &'static str,
    pub(crate) gapic: Option<&'static str>,
}

impl ServiceInfo {
    /// A service at that host, and the version of the package that its client is compiled in.
    #[must_use]
    pub const fn new(default_host: &'static str, gapic: Option<&'static str>) -> Self {
        Self { default_host, gapic }
    }

    /// Its default address.
    pub fn endpoint(&self) -> ServiceEndpoint {
        ServiceEndpoint::new(self.default_host)
    }
}
