//! Credentials of calls: headers that are fetched, cached, and put into every attempt.
//!
//! `Credentials` come from a closure; a `CredentialsService` puts them into requests. Put it inside the retries, so that each
//! attempt has current ones. Both need the feature `credentials`; without it, here are the errors and extensions alone by which
//! other crates know of credentials.

#[cfg(feature = "credentials")]
mod auth_headers;
#[cfg(feature = "credentials")]
mod cache;
mod credentials_error;
#[cfg(feature = "credentials")]
mod future;
mod header_error;
#[cfg(feature = "credentials")]
mod hook;
#[cfg(feature = "credentials")]
mod layer;
mod other_origin;
#[cfg(feature = "credentials")]
pub(crate) mod scope;
#[cfg(feature = "credentials")]
mod service;
#[cfg(test)]
#[cfg(feature = "credentials")]
mod tests;

#[cfg(feature = "credentials")]
pub use auth_headers::AuthHeaders;
pub use credentials_error::CredentialsError;
#[cfg(feature = "credentials")]
pub use future::CredentialsFuture;
pub use header_error::HeaderError;
#[cfg(feature = "credentials")]
pub use hook::Credentials;
#[cfg(feature = "credentials")]
pub use layer::CredentialsLayer;
pub use other_origin::OtherOrigin;
#[cfg(feature = "credentials")]
pub use service::CredentialsService;
