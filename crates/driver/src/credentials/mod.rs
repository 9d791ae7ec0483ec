//! Credentials of calls: headers that are fetched, cached, and put into every attempt.
//!
//! `Credentials` come from a closure; a `CredentialsService` puts them into requests. Put it inside the retries, so that each
//! attempt has current ones. Both need the feature `credentials`; without it, here are the errors and extensions alone by which
//! other crates know of credentials.

mod error;
#[cfg(feature = "credentials")]
pub(crate) mod fetched;
mod other_origin;

pub use error::{CredentialsError, HeaderError};
#[cfg(feature = "credentials")]
pub use fetched::{AuthHeaders, Credentials, CredentialsFuture, CredentialsLayer, CredentialsService};
pub use other_origin::OtherOrigin;
