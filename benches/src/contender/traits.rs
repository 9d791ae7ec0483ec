//! A service to run over, and a contender.

use crate::bench::Payload;
use std::future::Future;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::StdError;
use tower_service::Service;

/// A service that a contender can run over, such as tonic's channel.
pub trait Wire:
    Service<http::Request<Body>, Response = http::Response<Body>, Error: Into<StdError> + Send, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> Wire for S where
    S: Service<
            http::Request<Body>,
            Response = http::Response<Body>,
            Error: Into<StdError> + Send,
            Future: Send,
        > + Clone
        + Send
        + Sync
        + 'static
{
}

/// How a call ends.
pub type Outcome = Result<Payload, Status>;

/// A way to make a call.
pub trait Contender: Clone + Send + Sync + 'static {
    /// Its name in the tables.
    const NAME: &'static str;

    /// Makes a call.
    fn call(&mut self, message: Payload) -> impl Future<Output = Outcome> + Send;

    /// Makes a call that can be spawned.
    fn start(&self, message: Payload) -> impl Future<Output = Outcome> + Send + 'static {
        let mut this = self.clone();
        async move { this.call(message).await }
    }
}

/// Makes a struct around tonic's own client a contender of that name.
macro_rules! over_tonic {
    ($kind:ident, $name:literal) => {
        impl<S: $crate::contender::Wire> $crate::contender::Contender for $kind<S> {
            const NAME: &'static str = $name;

            async fn call(&mut self, message: $crate::bench::Payload) -> $crate::contender::Outcome {
                Ok(self.0.send(message).await?.into_inner())
            }
        }
    };
}

pub(super) use over_tonic;
