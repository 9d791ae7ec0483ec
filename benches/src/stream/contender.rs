//! Who streams, and what is streamed: tonic's own client, the layer under it, and the generated client.

use crate::bench::Part;
use crate::bench::streams_client::StreamsClient;
use crate::contender::Wire;
use crate::pace::Pace;
use gax_client::__private as gax;
use gax_retry::MethodKind;
use gax_streams::ResumptionExt as _;
use gax_streams::resumption::{Processed, Resume, Resumption, StreamResumption};
use std::future::Future;
use tokio_stream::{Stream, StreamExt as _, iter};
use tonic::codegen::{Body as HttpBody, Bytes, StdError};
use tonic::{Request, Status};
use tonic_gax::{RetryLayer, RetryService};

/// Which side streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are no others")]
pub enum Shape {
    /// The server.
    Server,
    /// The client.
    Client,
    /// Both, each message a reply to one.
    Both,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Server, Self::Client, Self::Both];

    /// How many messages come back where so many are sent or asked for.
    #[must_use]
    pub fn replies(self, messages: u32) -> u64 {
        if self == Self::Client { 1 } else { messages.into() }
    }

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "server streams",
            Self::Client => "client streams",
            Self::Both => "both stream",
        }
    }
}

/// The message of that number, of about 128 bytes.
#[must_use]
pub fn part(number: u64) -> Part {
    Part { number, data: vec![b'x'; 120] }
}

/// A way to make calls with streams.
pub trait StreamContender {
    /// Its name in the tables.
    fn name(&self) -> &'static str;

    /// Makes one call, with so many messages on each side that streams. Returns how many came back.
    fn call(&mut self, shape: Shape, messages: u32) -> impl Future<Output = Result<u64, Status>>;
}

fn parts(count: u32) -> impl Stream<Item = Part> + Send + 'static {
    iter((0..u64::from(count)).map(part))
}

async fn count(mut messages: impl Stream<Item = Result<Part, Status>> + Unpin) -> Result<u64, Status> {
    let mut count = 0;
    while let Some(message) = messages.next().await {
        message?;
        count += 1;
    }
    Ok(count)
}

/// tonic's own client.
struct Tonics<S> {
    name: &'static str,
    client: StreamsClient<S>,
    /// Its streams of responses resume.
    resumes: bool,
}

/// tonic's own client, with nothing around it.
pub fn raw<S: Wire>(service: S) -> impl StreamContender {
    Tonics { name: RAW, client: StreamsClient::new(service), resumes: false }
}

/// The name of tonic's own client.
pub const RAW: &str = "raw tonic client";

/// tonic's own client over [`RetryLayer`].
pub fn layered<S: Wire>(service: S) -> impl StreamContender {
    Tonics { name: "layer under tonic's client", client: over_layer(service), resumes: false }
}

/// The layer under tonic's own client, whose streams of responses resume.
pub fn layered_resuming<S: Wire>(service: S) -> impl StreamContender {
    Tonics { name: "layer, resuming", client: over_layer(service), resumes: true }
}

fn over_layer<S: Wire>(service: S) -> StreamsClient<RetryService<S>> {
    let (settings, codes) = (Pace::AT_ONCE.settings(), Pace::codes());
    let table = METHODS.iter().fold(gax_table::RetryTable::builder(), |table, method| {
        table.method(method.path(), settings.clone(), codes)
    });
    StreamsClient::new(RetryLayer::new(table.build().expect("the paths are some")).layer(service))
}

impl<S> StreamContender for Tonics<S>
where
    S: tonic::client::GrpcService<tonic::body::Body>,
    S::Error: Into<StdError>,
    S::ResponseBody: HttpBody<Data = Bytes> + Send + 'static,
    <S::ResponseBody as HttpBody>::Error: Into<StdError> + Send,
{
    fn name(&self) -> &'static str {
        self.name
    }

    async fn call(&mut self, shape: Shape, messages: u32) -> Result<u64, Status> {
        match shape {
            Shape::Server => {
                let request = Request::new(part(messages.into()));
                let request = if self.resumes { request.with_resumption(resumption()) } else { request };
                count(self.client.watch(request).await?.into_inner()).await
            }
            Shape::Client => self.client.collect(parts(messages)).await.map(|_| 1),
            Shape::Both => count(self.client.talk(parts(messages)).await?.into_inner()).await,
        }
    }
}

static METHODS: [gax_client::MethodInfo; 3] = [
    gax::method_info(gax::MethodParts {
        messages: Some(gax::message_types::<Part, Part>),
        ..method(MethodKind::ServerStreaming, "Watch", "/bench.v1.Streams/Watch")
    }),
    gax::method_info(method(MethodKind::ClientStreaming, "Collect", "/bench.v1.Streams/Collect")),
    gax::method_info(method(MethodKind::BidiStreaming, "Talk", "/bench.v1.Streams/Talk")),
];

const fn method(kind: MethodKind, name: &'static str, path: &'static str) -> gax::MethodParts {
    gax::MethodParts { kind, ..gax::MethodParts::of("bench.v1.Streams", name, path) }
}

/// The generated client.
struct Generated<S> {
    name: &'static str,
    client: gax::Client<S>,
}

/// The generated client.
pub fn generated<S: Wire>(service: S) -> impl StreamContender {
    generated_as("generated client", service, None)
}

/// The generated client, whose streams of responses resume.
pub fn resuming<S: Wire>(service: S) -> impl StreamContender {
    generated_as("generated client, resuming", service, Some(resumption()))
}

fn generated_as<S: Wire>(name: &'static str, service: S, resumption: Option<Resumption>) -> Generated<S> {
    let mut stub = gax::StubSettings::new(&METHODS);
    for index in 0..METHODS.len() {
        let settings = Pace::AT_ONCE.settings();
        stub.call_mut(index).set_retry_settings(settings).set_retryable_codes(Pace::codes());
    }
    if let Some(resumption) = resumption {
        stub.call_mut(0).set_resumption(resumption);
    }
    let settings = gax_client::ClientSettings::create(stub).with_method_extension(false);
    Generated { name, client: gax::Client::new(service, settings) }
}

impl<S: Wire> StreamContender for Generated<S> {
    fn name(&self) -> &'static str {
        self.name
    }

    async fn call(&mut self, shape: Shape, messages: u32) -> Result<u64, Status> {
        let client = &self.client;
        match shape {
            Shape::Server => {
                let request = Request::new(part(messages.into()));
                count(client.server_streaming::<_, Part>(0, request).await?.into_inner()).await
            }
            Shape::Client => {
                client.client_streaming::<_, _, Part>(1, Request::new(parts(messages))).await.map(|_| 1)
            }
            Shape::Both => {
                let request = Request::new(parts(messages));
                count(client.streaming::<_, _, Part>(2, request).await?.into_inner()).await
            }
        }
    }
}

fn resumption() -> Resumption {
    Resumption::new(|first: &Part| Rest { request: first.clone() })
}

/// Asks for the messages that have not come yet.
struct Rest {
    request: Part,
}

impl StreamResumption for Rest {
    type Request = Part;
    type Response = Part;

    fn process(&mut self, _: &mut Part) -> Processed {
        self.request.number = self.request.number.saturating_sub(1);
        Processed::Deliver
    }

    fn resume(&mut self, _: &Status) -> Resume<Part> {
        Resume::Again(self.request.clone())
    }
}
