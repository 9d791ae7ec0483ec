//! Tokens of the `gcp_auth` crate in every attempt: from a service account's key, the metadata server, or `gcloud`, whichever is
//! found.
//!
//! ```text
//! cargo run --manifest-path examples/gcp_auth/Cargo.toml
//! ```

use chrono::Utc;
use gcp_auth::TokenProvider;
use std::error::Error;
use std::sync::Arc;
use tonic::transport::{ClientTlsConfig, Endpoint};
use gax_driver::Code;
use gax_driver::credentials::{AuthHeaders, Credentials, CredentialsError, CredentialsService};

const SCOPES: &[&str] = &["https://www.googleapis.com/auth/cloud-platform"];

/// Fetches a token and its lifetime. `UNAVAILABLE` is retried, by the settings of the call that waits for it.
async fn fetch(provider: Arc<dyn TokenProvider>) -> Result<AuthHeaders, CredentialsError> {
    let unavailable = |error: gcp_auth::Error| CredentialsError::new(Code::Unavailable, error);
    let token = provider.token(SCOPES).await.map_err(unavailable)?;
    let headers = AuthHeaders::bearer(token.as_str())?;
    let left = token.expires_at() - Utc::now();
    Ok(headers.expires_in(left.to_std().unwrap_or_default()))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let provider = gcp_auth::provider().await?;
    let credentials = Credentials::new(move || fetch(Arc::clone(&provider)));
    let endpoint = Endpoint::from_static("https://cloudasset.googleapis.com")
        .tls_config(ClientTlsConfig::new().with_webpki_roots())?;
    let channel = CredentialsService::new(gax_client::connect_lazy(endpoint)?, credentials);
    // A generated client uses it: `AssetServiceClient::new(channel)`.
    println!("{:?} puts a token into each attempt", std::any::type_name_of_val(&channel));
    Ok(())
}
