//! Elements that are sent in batches.

use crate::faults::misbehaviours::clients::client::{Calls, End};
use crate::faults::misbehaviours::clients::connector::Connector;
use crate::faults::misbehaviours::clients::settings::{TOTAL, layer};
use gax_batching::BatchingSettings;
use gax_batching::{BatchCall, Batcher, ElementSize};
use gax_driver::Retryer;
use std::sync::Arc;
use tonic_gax::{CodeSet, RetrySettings};
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicClient;
use tonic_gax_tests::ms;

/// Batches of calls, each of which is one line.
pub(crate) fn batches(connector: &Connector) -> Calls {
    let once = RetrySettings::no_retry(TOTAL);
    let client = TonicClient::new(layer(connector).layer(connector.channel(false)));
    let batch = BatchCall::closure(Retryer::new(&once, CodeSet::EMPTY), move |_, calls: Arc<[u32]>| {
        let mut client = client.clone();
        async move {
            let text: Vec<_> = calls.iter().map(u32::to_string).collect();
            client.ask(Line { text: text.join(","), count: 0 }).await.map(tonic::Response::into_inner)
        }
    });
    let split =
        |line: Line, _: &[ElementSize]| line.text.split(',').map(|call| Ok(call.to_owned())).collect();
    let settings = BatchingSettings::builder().element_count_threshold(5).delay_threshold(ms(100));
    let batcher = Batcher::spawn(batch.split(split).settings(settings.build())).unwrap();
    Box::new(move |call| {
        let batcher = batcher.clone();
        Box::pin(async move {
            let added = match batcher.add(call).await {
                Ok(added) => added.await,
                Err(error) => return End::failed(error),
            };
            match added {
                Ok(reply) if reply.value() == &call.to_string() => End::Done,
                Ok(reply) => End::Wrong(reply.into_value()),
                Err(error) => End::failed(error),
            }
        })
    })
}
