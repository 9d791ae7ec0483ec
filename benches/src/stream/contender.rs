//! Who streams: tonic's own client, the layer under it, and the generated client.

use super::{Shape, part};
use crate::bench::Part;
use crate::bench::streams_client::StreamsClient;
use crate::contender::Wire;
use crate::pace::Pace;
use gax_client::__private as gax;
use gax_retry::MethodKind;
use gax_streams::ResumptionExt as _;
use gax_streams::resumption::{Processed, Resume, Resumption, StreamResumption};
use std::future::Future;
use std::time::Duration;
use tokio_stream::{Stream, StreamExt as _, iter};
use tonic::codegen::{Body as HttpBody, Bytes, StdError};
use tonic::{Request, Status};
use tonic_gax::{CodeSet, RetryLayer, RetryService, RetrySettings};

/// A way to make calls with streams.
pub trait StreamContender {
    /// Its name in the tables.
    const NAME: &'static str;

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

/// Calls by a client of tonic's.
async fn plain<S>(client: &mut StreamsClient<S>, shape: Shape, messages: u32) -> Result<u64, Status>
where
    S: tonic::client::GrpcService<tonic::body::Body>,
    S::Error: Into<StdError>,
    S::ResponseBody: HttpBody<Data = Bytes> + Send + 'static,
    <S::ResponseBody as HttpBody>::Error: Into<StdError> + Send,
{
    match shape {
        Shape::Server => count(client.watch(part(messages.into())).await?.into_inner()).await,
        Shape::Client => client.collect(parts(messages)).await.map(|_| 1),
        Shape::Both => count(client.talk(parts(messages)).await?.into_inner()).await,
    }
}

/// tonic's own client, with nothing around it.
#[derive(Debug, Clone)]
pub struct Raw<S>(StreamsClient<S>);

impl<S: Wire> Raw<S> {
    /// Over a service.
    pub fn new(service: S) -> Self {
        Self(StreamsClient::new(service))
    }
}

impl<S: Wire> StreamContender for Raw<S> {
    const NAME: &'static str = "raw tonic client";

    async fn call(&mut self, shape: Shape, messages: u32) -> Result<u64, Status> {
        plain(&mut self.0, shape, messages).await
    }
}

/// tonic's own client over [`RetryLayer`].
#[derive(Debug, Clone)]
pub struct Layered<S>(StreamsClient<RetryService<S>>);

impl<S: Wire> Layered<S> {
    /// Over a service.
    ///
    /// # Panics
    ///
    /// Never: the paths are some.
    pub fn new(service: S) -> Self {
        let (settings, codes) = (Pace::AT_ONCE.settings(), Pace::codes());
        let table = METHODS.iter().fold(gax_table::RetryTable::builder(), |table, method| {
            table.method(method.path(), settings.clone(), codes)
        });
        Self(StreamsClient::new(RetryLayer::new(table.build().expect("the paths are some")).layer(service)))
    }
}

impl<S: Wire> StreamContender for Layered<S> {
    const NAME: &'static str = "layer under tonic's client";

    async fn call(&mut self, shape: Shape, messages: u32) -> Result<u64, Status> {
        plain(&mut self.0, shape, messages).await
    }
}

/// The layer under tonic's own client, whose streams of responses resume.
#[derive(Debug, Clone)]
pub struct LayeredResuming<S>(Layered<S>);

impl<S: Wire> LayeredResuming<S> {
    /// Over a service.
    pub fn new(service: S) -> Self {
        Self(Layered::new(service))
    }
}

impl<S: Wire> StreamContender for LayeredResuming<S> {
    const NAME: &'static str = "layer, resuming";

    async fn call(&mut self, shape: Shape, messages: u32) -> Result<u64, Status> {
        if shape != Shape::Server {
            return self.0.call(shape, messages).await;
        }
        let request = Request::new(part(messages.into())).with_resumption(resumption());
        count(self.0.0.watch(request).await?.into_inner()).await
    }
}

static CODES: (&str, CodeSet) = ("no_retry_codes", CodeSet::EMPTY);
static PARAMS: (&str, RetrySettings) =
    ("no_retry_params", gax::ConstSettings::new().initial_retry_delay(Duration::ZERO).build());
static METHODS: [gax_client::MethodInfo; 3] = [
    gax::method_info(gax::MethodParts {
        messages: Some(gax::message_types::<Part, Part>),
        ..method(MethodKind::ServerStreaming, "Watch", "/bench.v1.Streams/Watch")
    }),
    gax::method_info(method(MethodKind::ClientStreaming, "Collect", "/bench.v1.Streams/Collect")),
    gax::method_info(method(MethodKind::BidiStreaming, "Talk", "/bench.v1.Streams/Talk")),
];

const fn method(kind: MethodKind, name: &'static str, path: &'static str) -> gax::MethodParts {
    let parts = gax::MethodParts::of("bench.v1.Streams", name, path);
    gax::MethodParts { kind, codes: &CODES, params: &PARAMS, ..parts }
}

/// The generated client.
#[derive(Debug, Clone)]
pub struct Generated<S>(gax::Client<S>);

impl<S: Wire> Generated<S> {
    /// Over a service.
    pub fn new(service: S) -> Self {
        Self::with_resumption(service, None)
    }

    fn with_resumption(service: S, resumption: Option<Resumption>) -> Self {
        let mut stub = gax::StubSettings::new(&METHODS);
        for index in 0..METHODS.len() {
            let settings = Pace::AT_ONCE.settings();
            stub.call_mut(index).set_retry_settings(settings).set_retryable_codes(Pace::codes());
        }
        if let Some(resumption) = resumption {
            stub.call_mut(0).set_resumption(resumption);
        }
        Self(gax::Client::new(service, gax_client::ClientSettings::create(stub).with_method_extension(false)))
    }
}

impl<S: Wire> StreamContender for Generated<S> {
    const NAME: &'static str = "generated client";

    async fn call(&mut self, shape: Shape, messages: u32) -> Result<u64, Status> {
        match shape {
            Shape::Server => {
                let request = Request::new(part(messages.into()));
                count(self.0.server_streaming::<_, Part>(0, request).await?.into_inner()).await
            }
            Shape::Client => {
                self.0.client_streaming::<_, _, Part>(1, Request::new(parts(messages))).await.map(|_| 1)
            }
            Shape::Both => {
                let request = Request::new(parts(messages));
                count(self.0.streaming::<_, _, Part>(2, request).await?.into_inner()).await
            }
        }
    }
}

/// The generated client, whose streams of responses resume.
#[derive(Debug, Clone)]
pub struct Resuming<S>(Generated<S>);

impl<S: Wire> Resuming<S> {
    /// Over a service.
    pub fn new(service: S) -> Self {
        Self(Generated::with_resumption(service, Some(resumption())))
    }
}

impl<S: Wire> StreamContender for Resuming<S> {
    const NAME: &'static str = "generated client, resuming";

    async fn call(&mut self, shape: Shape, messages: u32) -> Result<u64, Status> {
        self.0.call(shape, messages).await
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
