//! Credentials that a closure fetches, kept until they expire, and the service that puts them into requests.

mod auth_headers;
mod cache;
mod future;
mod hook;
pub(crate) mod scope;
mod service;
#[cfg(test)]
mod tests;

pub use auth_headers::AuthHeaders;
pub use future::CredentialsFuture;
pub use hook::Credentials;
pub use service::{CredentialsLayer, CredentialsService};
