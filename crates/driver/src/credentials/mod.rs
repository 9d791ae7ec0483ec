//! Credentials of calls: headers that are fetched, cached, and put into every attempt.
//!
//! [`Credentials`] come from a closure; a [`CredentialsService`] puts them into requests. Put it inside the retries, so that each
//! attempt has current ones.

mod auth_headers;
mod cache;
mod credentials_error;
mod future;
mod header_error;
mod hook;
mod layer;
pub(crate) mod scope;
mod service;
#[cfg(test)]
mod tests;
pub(crate) mod used;

pub use auth_headers::AuthHeaders;
pub use credentials_error::CredentialsError;
pub use future::CredentialsFuture;
pub use header_error::HeaderError;
pub use hook::Credentials;
pub use layer::CredentialsLayer;
pub use scope::OtherOrigin;
pub use service::CredentialsService;
