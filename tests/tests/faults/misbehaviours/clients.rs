//! The clients of the suite: each as a way to make a call of a number.

use super::server::{LENGTH, Ledger};
use bytes::Bytes;
use gax_driver::Retryer;
use gax_driver::credentials::{AuthHeaders, Credentials, CredentialsService};
use gax_driver::observe::OperationObserver;
use gax_driver::report::Delivery;
use gax_http::HttpRetryLayer;
use gax_http::{HttpRetryService, ReplayBody};
use gax_transfer::{Download, Upload};
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::future::{Future, pending};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::sleep;
use tokio_stream::StreamExt as _;
use tonic::transport::Endpoint;
use tonic::{Request, Status};
use tonic_gax::batching::{BatchCall, Batcher, ElementSize};
use tonic_gax::client::Transport;
use tonic_gax::connection::{Address, AddressList, Connection, ConnectionBuilder};
use tonic_gax::rest::{HttpService, RestOptions, RestTransport};
use tonic_gax::resumption::{Processed, Resume, Resumption, StreamResumption};
use tonic_gax::settings::BatchingSettings;
use tonic_gax::subscription::{Ended, Opening, Subscriber, SubscriptionStrategy, Update};
use tonic_gax::testing::Pipes;
use tonic_gax::{
    CallSettings, Code, CodeSet, OperationError, OperationOptions, RetryLayer, RetrySettings, RetryTable,
};
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings, ExportAssetsRequest,
    ListAssetsRequest,
};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::messaging_gax::{
    MessagingClient, MessagingSettings, MessagingStubSettings,
};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::{GetRevisionRequest, Message};
use tonic_gax_tests::generated::test::talk::v1::talk_client::TalkClient as TonicClient;
use tonic_gax_tests::generated::test::talk::v1::{Line, TalkClient, TalkSettings, TalkStubSettings};
use tonic_gax_tests::ms;
use tower_service::Service;

/// A client that the suite plays rows to. Calls with an odd number can't be retried, where a client makes single calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    Layer,
    Generated,
    ConnectedLayer,
    ConnectedGenerated,
    Http1,
    Http2,
    Transfers1,
    Transfers2,
    Rest1,
    Rest2,
    Resumed,
    Subscribed,
    Batches,
    Operations,
    Pages,
    Credentials,
    /// tonic's own client over a `Channel`, and hyper's own, which retry nothing.
    PlainGrpc,
    PlainHttp1,
    PlainHttp2,
}

use Client::{
    Batches, ConnectedGenerated, ConnectedLayer, Generated, Http1, Http2, Layer, Operations, Pages,
    PlainGrpc, PlainHttp1, PlainHttp2, Rest1, Rest2, Resumed, Subscribed, Transfers1, Transfers2,
};

impl Client {
    pub(super) const PLAIN: [Self; 3] = [PlainGrpc, PlainHttp1, PlainHttp2];

    /// The clients of that letter.
    pub(super) fn of(letter: char) -> &'static [Self] {
        match letter {
            'L' => &[Layer],
            'G' => &[Generated],
            'K' => &[ConnectedLayer, ConnectedGenerated],
            'H' => &[Http1, Http2],
            'T' => &[Transfers1, Transfers2],
            'R' => &[Rest1, Rest2],
            'S' => &[Resumed, Subscribed],
            'C' => &[Self::Credentials],
            'B' => &[Batches],
            'O' => &[Operations],
            _ => &[Pages],
        }
    }

    pub(super) fn is_http1(self) -> bool {
        matches!(self, Http1 | Transfers1 | Rest1 | PlainHttp1)
    }

    pub(super) fn is_transfer(self) -> bool {
        matches!(self, Transfers1 | Transfers2)
    }

    /// Whether this call is one that settings save.
    pub(super) fn saves(self, call: u32) -> bool {
        let is_single = matches!(
            self,
            Layer | Generated | ConnectedLayer | ConnectedGenerated | Http1 | Http2 | Rest1 | Rest2
        );
        !(Self::PLAIN.contains(&self) || is_single && call % 2 == 1)
    }
}

/// How a call ended, as its caller sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Done,
    /// Not what was asked for, as if it were.
    Wrong(String),
    Failed {
        message: String,
        /// Whether the error says that the server has not carried it out.
        says_not_done: bool,
    },
}

impl End {
    fn of<T>(result: Result<T, Status>, is_right: impl FnOnce(T) -> bool) -> Self {
        match result.map(is_right) {
            Ok(true) => Self::Done,
            Ok(false) => Self::Wrong("another reply".to_owned()),
            Err(status) => {
                let says_not_done =
                    OperationError::of(&status).is_some_and(|error| !error.may_have_been_applied());
                Self::Failed { message: status.to_string(), says_not_done }
            }
        }
    }

    fn failed(error: impl std::fmt::Display) -> Self {
        Self::Failed { message: error.to_string(), says_not_done: false }
    }

    fn numbers(numbers: &[u32], first: u32, last: u32, error: Option<Status>) -> Self {
        match error {
            Some(status) => Self::failed(status),
            None if numbers.iter().copied().eq(first..=last) => Self::Done,
            None => Self::Wrong(format!("{numbers:?}")),
        }
    }
}

pub(super) type Calling = Pin<Box<dyn Future<Output = End> + Send>>;
/// Makes the call of that number.
pub(super) type Calls = Box<dyn Fn(u32) -> Calling + Send + Sync>;

#[derive(Clone)]
struct Observer(Arc<dyn OperationObserver>);

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

/// Connects to a server, except while that leads nowhere.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    pipes: Pipes,
    pub(super) leads_nowhere: Arc<AtomicBool>,
    /// For clients that leave it to their connector.
    connect_timeout: Option<Duration>,
    observer: Option<Observer>,
}

impl Connector {
    pub(super) fn new(pipes: Pipes) -> Self {
        Self { pipes, leads_nowhere: Arc::default(), connect_timeout: None, observer: None }
    }

    /// Clients notify that observer.
    pub(super) fn observed(self, observer: Arc<dyn OperationObserver>) -> Self {
        Self { observer: Some(Observer(observer)), ..self }
    }

    fn options(&self) -> OperationOptions {
        let observer = self.observer.iter().map(|observer| Arc::clone(&observer.0));
        observer.fold(OperationOptions::new(), OperationOptions::observer)
    }

    fn channel(&self, is_plain: bool) -> tonic::transport::Channel {
        let mut endpoint = Endpoint::from_static("http://server.test");
        if !is_plain {
            endpoint =
                endpoint.http2_keep_alive_interval(PING).keep_alive_timeout(CONNECT).connect_timeout(CONNECT);
        }
        endpoint.connect_with_connector_lazy(self.clone())
    }

    fn connection(&self) -> Connection {
        let connector = self.clone();
        let connection = Connection::to("http://server.test").connector(move |_: Address| {
            let connecting = connector.clone().call(http::Uri::default());
            async { connecting.await.map(hyper_util::rt::TokioIo::into_inner) }
        });
        let there = AddressList::new([Address::from(SocketAddr::from(([10, 0, 0, 1], 1)))]);
        let connection = connection.resolver(there).connect_timeout(CONNECT);
        let observer = self.observer.iter().map(|observer| Arc::clone(&observer.0));
        observer.fold(connection, ConnectionBuilder::observer).connect_lazy().unwrap()
    }

    pub(super) fn hyper<B>(&self, is_http2: bool) -> Hyper<Self, B>
    where
        B: http_body::Body + Send,
        B::Data: Send,
    {
        let this = Self { connect_timeout: Some(CONNECT), ..self.clone() };
        let mut builder = Hyper::builder(TokioExecutor::new());
        if is_http2 {
            builder.http2_only(true).timer(TokioTimer::new());
            builder.http2_keep_alive_interval(PING).http2_keep_alive_timeout(CONNECT);
        }
        builder.build(this)
    }
}

type Connected = <Pipes as Service<http::Uri>>::Response;

impl Service<http::Uri> for Connector {
    type Response = Connected;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = std::io::Result<Connected>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            if this.leads_nowhere.load(Ordering::Relaxed) {
                match this.connect_timeout {
                    Some(timeout) => sleep(timeout).await,
                    None => pending().await,
                }
                return Err(std::io::ErrorKind::TimedOut.into());
            }
            this.pipes.connect()
        })
    }
}

/// The codes of all these faults.
const CODES: [Code; 5] =
    [Code::Unavailable, Code::DeadlineExceeded, Code::Cancelled, Code::Internal, Code::ResourceExhausted];

/// The longest that an attempt and the delay before it take.
pub(super) const UNIT: Duration = ms(1500);
/// The longest that connecting and a ping take.
pub(super) const CONNECT: Duration = ms(1000);
/// The time between pings.
pub(super) const PING: Duration = ms(2000);
/// Longer than any outage.
pub(super) const TOTAL: Duration = ms(120_000);

/// Attempts of half a second, a second apart at most.
fn settings() -> RetrySettings {
    RetrySettings::builder()
        .initial_retry_delay(ms(50))
        .retry_delay_multiplier(1.5)
        .max_retry_delay(ms(1000))
        .initial_rpc_timeout(ms(500))
        .max_rpc_timeout(ms(500))
        .total_timeout(TOTAL)
        .build()
        .unwrap()
}

fn layer(connector: &Connector) -> RetryLayer {
    let table = RetryTable::builder().method("/test.talk.v1.Talk/Ask", settings(), CODES).method(
        "/test.talk.v1.Talk/Guess",
        settings(),
        CodeSet::EMPTY,
    );
    RetryLayer::new(table.build().unwrap()).options(connector.options())
}

fn talk(options: OperationOptions, listen: impl FnOnce(&mut CallSettings)) -> TalkSettings {
    let mut stub = TalkStubSettings::builder();
    stub.ask().set_retry_settings(settings()).set_retryable_codes(CODES);
    stub.guess().set_retry_settings(settings()).set_retryable_codes(CodeSet::EMPTY).set_hedging(None);
    listen(stub.listen());
    TalkSettings::create(stub.build().unwrap()).with_options(options)
}

fn said(call: u32) -> Line {
    Line { text: call.to_string(), count: call }
}

fn is_said(call: u32) -> impl FnOnce(tonic::Response<Line>) -> bool {
    move |reply| reply.into_inner() == said(call)
}

fn layered<T: Transport + Sync>(connector: &Connector, transport: T) -> Calls {
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

fn generated<T: Transport + Sync>(connector: &Connector, transport: T) -> Calls {
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

fn plain(connector: &Connector) -> Calls {
    let client = TonicClient::new(connector.channel(true));
    Box::new(move |call| {
        let mut client = client.clone();
        Box::pin(async move { End::of(client.ask(said(call)).await, is_said(call)) })
    })
}

/// A `GET` or a `POST`.
fn request<B: Default>(call: u32) -> http::Request<B> {
    let method = if call.is_multiple_of(2) { http::Method::GET } else { http::Method::POST };
    let uri = format!("http://server.test/v1/messages/{call}");
    http::Request::builder().method(method).uri(uri).body(B::default()).unwrap()
}

async fn body_of<B>(response: http::Response<B>, call: u32) -> End
where
    B: http_body::Body,
    B::Error: std::fmt::Display,
{
    let status = response.status();
    match http_body_util::BodyExt::collect(response.into_body())
        .await
        .map(http_body_util::Collected::to_bytes)
    {
        Err(error) => End::failed(error),
        Ok(body) if status == 200 && body == super::server::reply(call) => End::Done,
        Ok(_) => End::Wrong(status.to_string()),
    }
}

/// The client of HTTP requests.
pub(super) fn http_client(
    connector: &Connector,
    is_http2: bool,
) -> HttpRetryService<Hyper<Connector, ReplayBody>> {
    HttpRetryLayer::new(&settings(), CODES).options(connector.options()).layer(connector.hyper(is_http2))
}

/// The layer of HTTP requests over another client.
pub(super) fn retrying<S: Clone>(client: S) -> HttpRetryService<S> {
    HttpRetryLayer::new(&settings(), CODES).layer(client)
}

fn http(connector: &Connector, is_http2: bool) -> Calls {
    let client = http_client(connector, is_http2);
    Box::new(move |call| {
        let mut client = client.clone();
        Box::pin(async move {
            match client.call(request::<ReplayBody>(call)).await {
                Ok(response) => body_of(response, call).await,
                Err(error) => End::Failed {
                    message: error.to_string(),
                    says_not_done: error.report().delivery() != Delivery::Unknown,
                },
            }
        })
    })
}

fn plain_http(connector: &Connector, is_http2: bool) -> Calls {
    let client: Hyper<_, http_body_util::Full<Bytes>> =
        Hyper::builder(TokioExecutor::new()).http2_only(is_http2).build(connector.clone());
    Box::new(move |call| {
        let client = client.clone();
        Box::pin(async move {
            match client.request(request(call)).await {
                Ok(response) => body_of(response, call).await,
                Err(error) => End::failed(error),
            }
        })
    })
}

/// The client of REST calls.
pub(super) fn rest_client<S: HttpService>(
    options: OperationOptions,
    http: S,
) -> MessagingClient<RestTransport<S>> {
    let mut stub = MessagingStubSettings::builder();
    stub.get_revision().set_retry_settings(settings()).set_retryable_codes(CODES);
    stub.update_all().set_retry_settings(settings()).set_retryable_codes(CodeSet::EMPTY);
    let settings = MessagingSettings::create(stub.build().unwrap()).with_options(options);
    let options = RestOptions::new().origin("http://server.test".parse().unwrap());
    MessagingClient::rest_with_options(http, settings, options).unwrap()
}

fn rest(connector: &Connector, is_http2: bool) -> Calls {
    let client = rest_client(connector.options(), connector.hyper(is_http2));
    Box::new(move |call| {
        let client = client.clone();
        Box::pin(async move {
            let message_id = call.to_string();
            let replied = if call % 2 == 0 {
                let request =
                    GetRevisionRequest { message_id: message_id.clone(), ..GetRevisionRequest::default() };
                client.get_revision(request).await
            } else {
                client.update_all(Message { message_id: message_id.clone(), ..Message::default() }).await
            };
            End::of(replied, |reply| reply.into_inner().message_id == message_id)
        })
    })
}

/// The bytes of an object.
pub(super) fn content(call: u32) -> Bytes {
    (0..10_000 + call).map(|place| u8::try_from((place + call) % 251).unwrap()).collect()
}

/// Even calls upload, by one request or a session in turn; odd ones download.
fn transfers(connector: &Connector, is_http2: bool) -> Calls {
    let client = http_client(connector, is_http2);
    Box::new(move |call| {
        let client = client.clone();
        Box::pin(async move {
            let name = call.to_string();
            if call % 2 == 1 {
                let download = Download::of_object("http://server.test", "b", &name);
                return match download.idle_timeout(ms(500)).to_bytes(&client).await {
                    Ok((bytes, _)) if bytes == content(call) => End::Done,
                    Ok(_) => End::Wrong("other bytes".to_owned()),
                    Err(error) => End::failed(error),
                };
            }
            let upload = Upload::to_object("http://server.test", "b", &name, content(call));
            let upload = upload.query("ifGenerationMatch", "0").idle_timeout(ms(500));
            let upload = upload.single_request_below(if call % 4 == 0 { 0 } else { u64::MAX });
            match upload.send(&client).await {
                Ok(uploaded) if uploaded.bytes() == content(call).len() as u64 => End::Done,
                Ok(_) => End::Wrong("another length".to_owned()),
                Err(error) => End::failed(error),
            }
        })
    })
}

/// Goes on behind the last number.
#[derive(Debug, Clone)]
struct Behind {
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

    fn ended(&mut self) -> Ended {
        if self.seen < LENGTH { Ended::Reconnect } else { Ended::End }
    }
}

pub(super) fn resumed<T: Transport + Sync>(options: OperationOptions, transport: T) -> Calls {
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

pub(super) fn subscribed<T: Transport + Sync>(options: OperationOptions, transport: T) -> Calls {
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

/// Batches of calls, each of which is one line.
fn batches(connector: &Connector) -> Calls {
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

fn assets(connector: &Connector) -> AssetServiceClient<tonic::transport::Channel> {
    let mut stub = AssetServiceStubSettings::builder();
    stub.list_assets().set_retry_settings(settings()).set_retryable_codes(CODES);
    let polling = RetrySettings::builder().initial_retry_delay(ms(200)).total_timeout(TOTAL).build().unwrap();
    stub.export_assets().set_retry_settings(settings()).set_retryable_codes(CODES);
    stub.export_assets_operation().set_polling_settings(polling);
    AssetServiceClient::with_settings(
        connector.channel(false),
        AssetServiceSettings::create(stub.build().unwrap()).with_options(connector.options()),
    )
}

fn operations(connector: &Connector) -> Calls {
    let client = assets(connector);
    Box::new(move |call| {
        let parent = call.to_string();
        let export =
            client.export_assets_operation(ExportAssetsRequest { parent, ..ExportAssetsRequest::default() });
        Box::pin(async move { export.await.map_or_else(End::failed, |_| End::Done) })
    })
}

fn pages(connector: &Connector) -> Calls {
    let client = assets(connector);
    Box::new(move |call| {
        let parent = call.to_string();
        let mut list = client.list_assets_paged(ListAssetsRequest { parent, ..ListAssetsRequest::default() });
        Box::pin(async move {
            let mut numbers = Vec::new();
            while let Some(item) = list.next().await {
                match item {
                    Ok(item) => numbers.push(item.name.parse().unwrap()),
                    Err(error) => return End::failed(error),
                }
            }
            End::numbers(&numbers, 0, LENGTH - 1, None)
        })
    })
}

/// Each call has a token, which lasts for a second and comes over the connector. The calls themselves come to the ledger.
fn credentials(connector: &Connector, ledger: &Ledger) -> Calls {
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
struct Counted(Ledger);

impl Service<http::Request<tonic::body::Body>> for Counted {
    type Response = http::Response<tonic::body::Body>;
    type Error = std::convert::Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<tonic::body::Body>) -> Self::Future {
        let mut server = super::server::Server::new(&self.0);
        let has_token = request.headers().contains_key("authorization");
        assert!(has_token, "a request has no token");
        server.call(request)
    }
}

impl Client {
    /// The calls of a client that connects so.
    pub(super) fn calls(self, connector: &Connector, ledger: &Ledger) -> Calls {
        match self {
            Layer => layered(connector, connector.channel(false)),
            Generated => generated(connector, connector.channel(false)),
            ConnectedLayer => layered(connector, connector.connection()),
            ConnectedGenerated => generated(connector, connector.connection()),
            Http1 => http(connector, false),
            Http2 => http(connector, true),
            Transfers1 => transfers(connector, false),
            Transfers2 => transfers(connector, true),
            Rest1 => rest(connector, false),
            Rest2 => rest(connector, true),
            Resumed => resumed(connector.options(), connector.channel(false)),
            Subscribed => subscribed(connector.options(), connector.channel(false)),
            Batches => batches(connector),
            Operations => operations(connector),
            Pages => pages(connector),
            Self::Credentials => credentials(connector, ledger),
            PlainGrpc => plain(connector),
            PlainHttp1 => plain_http(connector, false),
            PlainHttp2 => plain_http(connector, true),
        }
    }
}
