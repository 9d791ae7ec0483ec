//! Streams that resume, and subscriptions.

use crate::faults::misbehaviours::clients::client::{Calls, End};
use crate::faults::misbehaviours::clients::settings::{CODES, settings, talk};
use crate::faults::misbehaviours::server::LENGTH;
use gax_client::CallSettings;
use gax_client::GrpcTransport;
use gax_streams::resumption::{Processed, Resume, Resumption, StreamResumption};
use gax_streams::subscription::{OnEnd, Opening, Subscriber, SubscriptionStrategy, Update};
use tokio_stream::StreamExt as _;
use tonic::Status;
use tonic_gax::OperationOptions;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient};
use tonic_gax_tests::ms;

/// Goes on behind the last number.
#[derive(Debug, Clone)]
pub(crate) struct Behind {
    text: String,
    seen: u32,
}

impl Behind {
    fn new(call: u32) -> Self {
        Self { text: call.to_string(), seen: 0 }
    }

    fn request(&self) -> Line {
        Line { text: self.text.clone(), count: self.seen }
    }
}

impl StreamResumption for Behind {
    type Request = Line;
    type Response = Line;

    fn process(&mut self, line: &mut Line) -> Processed {
        self.seen = line.count;
        Processed::Release
    }

    fn resume(&mut self, _: &Status) -> Resume<Line> {
        Resume::Again(self.request())
    }
}

impl SubscriptionStrategy for Behind {
    type Message = ();

    fn ended(&mut self) -> OnEnd {
        if self.seen < LENGTH { OnEnd::Reconnect } else { OnEnd::End }
    }
}

pub(crate) fn resumed<T: GrpcTransport + Sync>(options: OperationOptions, transport: T) -> Calls {
    let resumption = Resumption::new(|line: &Line| Behind { text: line.text.clone(), seen: line.count });
    let settings = talk(options, |listen| {
        listen.set_retry_settings(settings()).set_retryable_codes(CODES);
        listen.set_resumption(resumption).set_wait_timeout(ms(500));
    });
    let client = TalkClient::with_settings(transport, settings);
    Box::new(move |call| {
        let client = client.clone();
        Box::pin(async move {
            let mut numbers = Vec::new();
            let mut lines = match client.listen(Behind::new(call).request()).await {
                Ok(lines) => lines.into_inner(),
                Err(status) => return End::failed(status),
            };
            let mut error = None;
            while let Some(line) = lines.next().await {
                match line {
                    Ok(line) => numbers.push(line.count),
                    Err(status) => error = Some(status),
                }
            }
            End::numbers(&numbers, 1, LENGTH, error)
        })
    })
}

pub(crate) fn subscribed<T: GrpcTransport + Sync>(options: OperationOptions, transport: T) -> Calls {
    let mut call_settings = CallSettings::new(settings(), CODES);
    call_settings.set_wait_timeout(ms(500));
    let (subscriber, client) = (Subscriber::new(&call_settings).options(options), TalkClient::new(transport));
    Box::new(move |call| {
        let (client, strategy) = (client.clone(), Behind::new(call));
        let connect = move |opening: Opening<Line, ()>| client.listen(opening.into_request());
        let mut updates = subscriber.subscribe(strategy.request(), strategy, connect);
        Box::pin(async move {
            let (mut numbers, mut error) = (Vec::new(), None);
            while let Some(update) = updates.next().await {
                match update.map(Update::into_message) {
                    Ok(line) => numbers.extend(line.map(|line| line.count)),
                    Err(status) => error = Some(status),
                }
            }
            End::numbers(&numbers, 1, LENGTH, error)
        })
    })
}
