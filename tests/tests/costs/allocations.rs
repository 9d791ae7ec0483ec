//! The allocations of a call, beside those of tonic's own client. They are the same in every run, so that they can be asserted.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use allocation_counter::measure;
use gax_client::{__private as gax, CallSettings};
use gax_driver::Retryer;
use gax_http::HttpRetryLayer;
use gax_table::RetryTable;
use gax_table::live::SettingsHandle;
use prost::bytes::{Buf, BufMut};
use prost::encoding::{DecodeContext, WireType};
use prost::{DecodeError, Message};
use std::sync::atomic::{AtomicU32, Ordering};
use tonic::{Request, Response, Status};
use tonic_gax::{Code, RetryLayer, RetryService};
use tonic_gax_benches::bench::Payload;
use tonic_gax_benches::bench::echo_client::EchoClient;
use tonic_gax_benches::canned::Canned;
use tonic_gax_benches::contender::{Contender, Generated, Layered, Outcome, Raw};
use tonic_gax_benches::message;
use tonic_gax_benches::pace::Pace;
use tonic_gax_benches::stream::{self, CannedStream, Shape, StreamContender};
use tonic_gax_tests::generated::test::talk::v1::{TalkClient, TalkSettings};

/// Allocations and bytes of a call.
type Cost = (i64, i64);

/// The cost of one call, the one-time costs of the first left out.
fn cost<C: Contender>(mut contender: C) -> Cost {
    const CALLS: i64 = 64;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut calls = |count: i64| {
        let messages = vec![message::payload(message::SMALL); usize::try_from(count).unwrap()];
        let info = measure(|| {
            runtime.block_on(async {
                for message in messages {
                    contender.call(message).await.expect("the service replies");
                }
            });
        });
        (i64::try_from(info.count_total).unwrap(), i64::try_from(info.bytes_total).unwrap())
    };
    calls(1);
    let (few, many) = (calls(CALLS), calls(2 * CALLS));
    ((many.0 - few.0) / CALLS, (many.1 - few.1) / CALLS)
}

fn over((count, bytes): Cost, (other_count, other_bytes): Cost) -> Cost {
    (count - other_count, bytes - other_bytes)
}

#[test]
fn a_layer_adds_one_allocation_to_a_call() {
    for service in [Canned::new(), Canned::new().pending_once()] {
        let raw = cost(Raw::new(service.clone()));
        let (count, bytes) = over(cost(Layered::new(service, Pace::AT_ONCE)), raw);
        assert_eq!(count, 1);
        assert!(bytes <= 160, "{bytes} bytes more than tonic's own client's {}", raw.1);
    }
}

#[test]
fn a_generated_client_allocates_less_than_tonic_s_own() {
    for service in [Canned::new(), Canned::new().pending_once()] {
        let raw = cost(Raw::new(service.clone()));
        let (count, bytes) = over(cost(Generated::new(service, Pace::AT_ONCE)), raw);
        assert_eq!(count, -9);
        assert!(bytes <= -17_000, "{bytes} bytes against tonic's own client's {}", raw.1);
    }
}

/// The allocations of one message of a stream.
fn message_cost<C: StreamContender>(shape: Shape, contender: impl Fn(CannedStream) -> C) -> i64 {
    const MESSAGES: u32 = 500;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let call = |messages: u32| {
        let mut contender = contender(CannedStream::new(shape, messages));
        let info = measure(|| {
            assert_eq!(runtime.block_on(contender.call(shape, messages)).unwrap(), shape.replies(messages));
        });
        i64::try_from(info.count_total).unwrap()
    };
    call(1);
    (call(2 * MESSAGES) - call(MESSAGES)) / i64::from(MESSAGES)
}

#[test]
fn a_message_of_a_stream_adds_no_allocation() {
    for shape in Shape::ALL {
        let raw = message_cost(shape, stream::raw);
        assert!(raw >= 1, "every message has data: {raw}");
        assert_eq!(message_cost(shape, stream::layered), raw, "{shape:?}");
        assert_eq!(message_cost(shape, stream::generated), raw, "{shape:?}");
        assert_eq!(message_cost(shape, stream::resuming), raw, "{shape:?}");
    }
}

/// The layer and the generated client, by the table of a handle.
#[derive(Debug, Clone)]
struct LiveLayer(EchoClient<RetryService<Canned>>);

#[derive(Debug, Clone)]
struct LiveClient(gax::Client<Canned>);

impl Contender for LiveLayer {
    const NAME: &'static str = "layer with a handle";

    async fn call(&mut self, message: Payload) -> Outcome {
        Ok(self.0.send(message).await?.into_inner())
    }
}

impl Contender for LiveClient {
    const NAME: &'static str = "generated client with a handle";

    async fn call(&mut self, message: Payload) -> Outcome {
        Ok(self.0.unary(0, Request::new(message)).await?.into_inner())
    }
}

#[test]
fn a_handle_adds_no_allocation_to_a_call() {
    let handle = SettingsHandle::new(Pace::AT_ONCE.table());
    let layer = RetryLayer::live(&handle).layer(Canned::new());
    let client = gax_client::ClientSettings::create(gax::StubSettings::new(&METHODS));
    let client = gax::Client::new(Canned::new(), client.live(&handle));
    let (live, fixed) = (cost(LiveLayer(EchoClient::new(layer))), Layered::new(Canned::new(), Pace::AT_ONCE));
    assert_eq!(live, cost(fixed));
    let (live, fixed) = (cost(LiveClient(client)), Generated::new(Canned::new(), Pace::AT_ONCE));
    assert_eq!(live, cost(fixed));
}

#[test]
fn headers_for_google_add_the_value_of_one() {
    fn client<S: gax::ServiceStub>(stub: S) -> Cost {
        let settings = gax_client::ClientSettings::create(stub).with_method_extension(false);
        cost(LiveClient(gax::Client::new(Canned::new(), settings)))
    }
    struct OfGoogle;
    impl gax::ServiceStub for OfGoogle {
        fn into_config(self) -> gax::ClientConfig {
            gax::ClientConfig::new(gax::StubSettings::new(&ROUTED)).of_service(&SERVICE)
        }
    }
    let (count, bytes) = over(client(OfGoogle), client(gax::StubSettings::new(&METHODS)));
    assert_eq!(count, 1);
    assert!(bytes <= 512, "{bytes} bytes");
}

#[test]
fn one_retry_allocates_less_than_two_calls() {
    let (count, bytes) = cost(Raw::new(Canned::new()));
    let two_calls = (2 * count, 2 * bytes);
    let service = Canned::new().failing(1);
    let (layer, _) = over(cost(Layered::new(service.clone(), Pace::AT_ONCE)), two_calls);
    let (generated, _) = over(cost(Generated::new(service, Pace::AT_ONCE)), two_calls);
    // One more than over a bare channel, where nobody could look for the attempt's number.
    assert!(layer <= -6, "{layer}");
    assert!(generated <= -16, "{generated}");
}

/// The most that an operation of so many attempts holds at a time, and how long its report's text is.
fn peak(attempts: u32) -> (u64, usize) {
    let settings = tonic_gax::RetrySettings::builder()
        .initial_retry_delay(std::time::Duration::ZERO)
        .max_attempts(attempts)
        .build()
        .unwrap();
    let retryer = Retryer::new(&settings, [Code::Unavailable]);
    let mut text = 0;
    let info = measure(|| {
        let failed = retryer.run_blocking(|_| Err::<(), _>(Status::unavailable(""))).unwrap_err();
        assert_eq!(failed.report().attempt_count(), attempts);
        text = failed.report().to_string().len();
    });
    (info.bytes_max, text)
}

#[test]
fn a_long_operation_holds_no_more_than_a_short_one() {
    let ((short, _), (long, text)) = (peak(100), peak(100_000));
    assert!(long <= short + 4096, "{long} bytes against {short}");
    assert!(text < 8192, "{text}");
}

#[test]
fn a_long_call_holds_no_more_than_a_short_one() {
    let peak = |attempts: u32| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let pace = Pace { attempts, ..Pace::AT_ONCE };
        let mut client = Generated::new(Canned::new().failing(attempts), pace);
        let message = message::payload(message::SMALL);
        let info = measure(|| {
            let outcome = runtime.block_on(client.call(message));
            assert!(outcome.is_err());
        });
        info.bytes_max
    };
    let (short, long) = (peak(100), peak(20_000));
    assert!(long <= short + 4096, "{long} bytes against {short}");
}

/// The bytes that a call holds while it waits for its second attempt, as a task of its own.
fn parked<C: Contender>(contender: &C) -> i64 {
    const CALLS: u16 = 128;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let message = message::payload(message::SMALL);
    let info = measure(|| {
        runtime.block_on(async {
            for _ in 0..CALLS {
                drop(tokio::spawn(contender.start(message.clone())));
            }
            // Every task has run by now: the runtime is fair, and has one thread.
            for _ in 0..CALLS {
                tokio::task::yield_now().await;
            }
        });
    });
    info.bytes_current / i64::from(CALLS)
}

#[test]
fn a_call_that_waits_holds_little() {
    let service = Canned::new().failing(u32::MAX);
    let layered = parked(&Layered::new(service.clone(), Pace::PARKED));
    let generated = parked(&Generated::new(service, Pace::PARKED));
    assert!(layered <= 2_650, "{layered} bytes");
    assert!(generated <= 1_300, "{generated} bytes");
}

/// The size of a call's future, besides the channel's own.
#[cfg(target_pointer_width = "64")]
#[test]
fn a_calls_future_is_small() {
    use tonic::transport::Channel;
    use tower_service::Service;
    type Sent = <Channel as Service<http::Request<tonic::body::Body>>>::Future;
    // It holds a channel of its own, since it starts when it is polled.
    let transport = size_of::<Channel>() + size_of::<Sent>();
    let generated = size_of::<gax_client::UnaryCall<Channel, Counted>>() - transport;
    assert!(generated <= 160, "{generated} bytes");
    let layered = size_of::<tonic_gax::grpc::ResponseFuture<Channel>>() - size_of::<Sent>();
    assert!(layered <= 184, "{layered} bytes");
}

static CODES: (&str, gax_retry::CodeSet) = ("codes", gax_retry::CodeSet::EMPTY);
static PARAMS: (&str, gax_retry::RetrySettings) = ("params", gax::ConstSettings::new().build());
static METHODS: [gax_client::MethodInfo; 1] = [gax::method_info(SEND)];
const SEND: gax::MethodParts = gax::MethodParts {
    codes: &CODES,
    params: &PARAMS,
    ..gax::MethodParts::of("bench.v1.Echo", "Send", message::PATH)
};

static SERVICE: gax::ServiceInfo = gax::ServiceInfo::new("cloudasset.googleapis.com", Some("1.0.0"));
static REQUEST_PARAMS: [gax::RequestParam; 1] = [gax::RequestParam::new("parent", &[1], 9, "")];
static ANNOTATIONS: gax::MethodAnnotations = gax::MethodAnnotations::new(&REQUEST_PARAMS, Some("v1"));
static ROUTED: [gax_client::MethodInfo; 1] =
    [gax::method_info(gax::MethodParts { annotations: Some(&ANNOTATIONS), ..SEND })];

/// Counts how often it is encoded.
#[derive(Debug, Default)]
struct Counted;

static ENCODED: AtomicU32 = AtomicU32::new(0);

impl Message for Counted {
    fn encode_raw(&self, _: &mut impl BufMut) {
        ENCODED.fetch_add(1, Ordering::Relaxed);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buffer: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        prost::encoding::skip_field(wire_type, tag, buffer, context)
    }

    fn encoded_len(&self) -> usize {
        0
    }

    fn clear(&mut self) {}
}

#[tokio::test]
async fn a_message_is_encoded_once_for_all_attempts() {
    let service = Canned::new().failing(3);
    let mut stub = gax::StubSettings::new(&METHODS);
    *stub.call_mut(0) = CallSettings::new(Pace::AT_ONCE.settings(), Pace::codes());
    let client = gax::Client::new(service.clone(), gax_client::ClientSettings::create(stub));
    let reply: Result<Response<Counted>, Status> = client.unary(0, Request::new(Counted)).await;
    reply.unwrap();
    assert_eq!((service.attempts(), ENCODED.load(Ordering::Relaxed)), (4, 1));
}

/// Each follower is dropped before the next one is made, so that a handle needs memory for one.
#[test]
fn a_handle_keeps_no_memory_of_those_who_follow_it_no_more() {
    let handle = SettingsHandle::new(RetryTable::builder().build().unwrap());
    let follow = |count: u32| {
        for _ in 0..count {
            drop(RetryLayer::live(&handle).layer(()));
            drop(Retryer::live(&handle, "any", [Code::Unavailable]));
            drop(HttpRetryLayer::live(&handle, "any").layer(()));
            drop(TalkClient::with_settings(Canned::new(), TalkSettings::default().live(&handle)));
        }
    };
    follow(10);
    let kept = measure(|| follow(1000)).bytes_current;
    assert!(kept <= 1024, "{kept} bytes");
}
