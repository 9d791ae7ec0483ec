//! Calls whose tokens come over the connector.

use crate::faults::misbehaviours::clients::client::{Calls, End};
use crate::faults::misbehaviours::clients::connector::Connector;
use crate::faults::misbehaviours::clients::grpc::{is_said, said};
use crate::faults::misbehaviours::clients::settings::{layer, talk};
use crate::faults::misbehaviours::server::Ledger;
use gax_driver::credentials::{AuthHeaders, Credentials, CredentialsService};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use tonic::Request;
use tonic_gax_tests::generated::test::talk::v1::TalkClient;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicClient;
use tonic_gax_tests::ms;
use tower_service::Service;

/// Each call has a token, which lasts for a second and comes over the connector. The calls themselves come to the ledger.
pub(crate) fn credentials(connector: &Connector, ledger: &Ledger) -> Calls {
    let endpoint = TonicClient::new(layer(connector).layer(connector.channel(false)));
    let ledger = ledger.clone();
    let number = Arc::new(AtomicU32::new(1_000_000));
    let credentials = Credentials::new(move || {
        let (mut endpoint, call) = (endpoint.clone(), number.fetch_add(1, Ordering::Relaxed));
        async move {
            let token = endpoint.ask(said(call)).await?;
            Ok(AuthHeaders::bearer(&token.into_inner().text).unwrap().expires_in(ms(1000)))
        }
    });
    let service = CredentialsService::new(Counted(ledger), credentials);
    let client = TalkClient::with_settings(service, talk(connector.options(), |_| {}));
    Box::new(move |call| {
        let (client, call) = (client.clone(), 2 * call);
        Box::pin(async move { End::of(client.ask(Request::new(said(call))).await, is_said(call)) })
    })
}

/// A server that needs a token, in memory.
#[derive(Debug, Clone)]
pub(crate) struct Counted(Ledger);

impl Service<http::Request<tonic::body::Body>> for Counted {
    type Response = http::Response<tonic::body::Body>;
    type Error = std::convert::Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<tonic::body::Body>) -> Self::Future {
        let mut server = crate::faults::misbehaviours::server::Server::new(&self.0);
        let has_token = request.headers().contains_key("authorization");
        assert!(has_token, "a request has no token");
        server.call(request)
    }
}
