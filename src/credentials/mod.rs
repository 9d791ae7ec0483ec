//! Credentials of calls: headers that are fetched, cached, and put into every attempt.
//!
//! [`Credentials`] come from a closure; a [`CredentialsService`] puts them into requests. It goes below the retries, so that each
//! attempt has those of its moment.

mod auth_headers;
mod cache;
mod credentials_error;
mod future;
mod hook;
mod layer;
mod scope;
mod service;
mod used;

pub use auth_headers::AuthHeaders;
pub use credentials_error::CredentialsError;
pub use future::CredentialsFuture;
pub use hook::Credentials;
pub use layer::CredentialsLayer;
pub use scope::OtherOrigin;
#[cfg(feature = "connection")]
pub(crate) use scope::{NoPlaintext, is_loopback};
pub use service::CredentialsService;
pub(crate) use used::UsedCredentials;
