//! The layer that adds credentials.

use super::hook::Credentials;
use super::service::CredentialsService;
use tower_layer::Layer;

/// Puts [`Credentials`] into requests, as a tower layer: see [`CredentialsService`].
#[derive(Debug, Clone)]
pub struct CredentialsLayer {
    credentials: Credentials,
}

impl CredentialsLayer {
    /// A layer that adds these.
    #[must_use]
    pub fn new(credentials: Credentials) -> Self {
        Self { credentials }
    }
}

impl<S> Layer<S> for CredentialsLayer {
    type Service = CredentialsService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        CredentialsService::new(inner, self.credentials.clone())
    }
}
