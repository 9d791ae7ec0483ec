//! Single gRPC calls.

use crate::faults::misbehaviours::clients::client::{Calls, End};
use crate::faults::misbehaviours::clients::connector::Connector;
use crate::faults::misbehaviours::clients::settings::{layer, talk};
use gax_client::GrpcTransport;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicClient;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient};

pub(crate) fn said(call: u32) -> Line {
    Line { text: call.to_string(), count: call }
}

pub(crate) fn is_said(call: u32) -> impl FnOnce(tonic::Response<Line>) -> bool {
    move |reply| reply.into_inner() == said(call)
}

pub(crate) fn layered<T: GrpcTransport + Sync>(connector: &Connector, transport: T) -> Calls {
    let client = TonicClient::new(layer(connector).layer(transport));
    Box::new(move |call| {
        let mut client = client.clone();
        Box::pin(async move {
            let said = said(call);
            let replied = if call % 2 == 0 { client.ask(said).await } else { client.guess(said).await };
            End::of(replied, is_said(call))
        })
    })
}

pub(crate) fn generated<T: GrpcTransport + Sync>(connector: &Connector, transport: T) -> Calls {
    let client = TalkClient::with_settings(transport, talk(connector.options(), |_| {}));
    Box::new(move |call| {
        let client = client.clone();
        Box::pin(async move {
            let said = said(call);
            let replied = if call % 2 == 0 { client.ask(said).await } else { client.guess(said).await };
            End::of(replied, is_said(call))
        })
    })
}

pub(crate) fn plain(connector: &Connector) -> Calls {
    let client = TonicClient::new(connector.channel(true));
    Box::new(move |call| {
        let mut client = client.clone();
        Box::pin(async move { End::of(client.ask(said(call)).await, is_said(call)) })
    })
}
