//! Connecting.

use tonic::codegen::StdError;
use tonic::transport::{Channel, Endpoint, Error};

/// A channel to what can be made an endpoint: an URI's text, an URI, or an [`Endpoint`] with settings of
/// its own, TLS among them.
///
/// # Errors
///
/// The destination is no URI, or nobody answers there.
pub async fn connect<D>(destination: D) -> Result<Channel, Error>
where
    D: TryInto<Endpoint>,
    D::Error: Into<StdError>,
{
    Endpoint::new(destination)?.connect().await
}
