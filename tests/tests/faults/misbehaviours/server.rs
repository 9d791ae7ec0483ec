//! The servers of the suite: what they have carried out, by the number of the call.

use bytes::Bytes;
use prost::Message as _;
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::time::sleep;
use tonic::body::Body;
use tonic::codegen::BoxStream;
use tonic::service::Routes;
use tonic::{Request, Response, Status, Streaming};
use tonic_gax_tests::generated::google::cloud::asset::v1 as asset;
use tonic_gax_tests::generated::google::longrunning as wire;
use tonic_gax_tests::generated::test::talk::v1::Line;
use tonic_gax_tests::generated::test::talk::v1::talk_server::{Talk, TalkServer};
use tonic_gax_tests::{line, ms};
use tower_service::Service;

/// The messages of each stream, and the items of each list.
pub(super) const LENGTH: u32 = 8;
/// The items on a page.
const PAGE: u32 = 4;

/// How often each call was carried out, by its number.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger(Arc<Mutex<HashMap<u32, u32>>>);

impl Ledger {
    /// Notes that a call was carried out.
    pub(super) fn note(&self, call: u32) {
        *self.0.lock().unwrap().entry(call).or_default() += 1;
    }

    /// How often a call was carried out.
    pub(super) fn times(&self, call: u32) -> u32 {
        self.0.lock().unwrap().get(&call).copied().unwrap_or_default()
    }
}

/// Carries out lines, streams, lists and operations, and notes each.
#[derive(Debug, Clone)]
struct Handlers(Ledger);

impl Handlers {
    /// A line has the numbers of its calls as its text.
    async fn say(&self, request: Request<Line>) -> Result<Response<Line>, Status> {
        let line = request.into_inner();
        line.text.split(',').filter_map(|call| call.parse().ok()).for_each(|call| self.0.note(call));
        sleep(ms(10)).await;
        Ok(Response::new(line))
    }
}

#[tonic::async_trait]
impl Talk for Handlers {
    async fn ask(&self, request: Request<Line>) -> Result<Response<Line>, Status> {
        self.say(request).await
    }

    async fn guess(&self, request: Request<Line>) -> Result<Response<Line>, Status> {
        self.say(request).await
    }

    /// The numbers behind that of the request, one each 50 ms.
    async fn listen(&self, request: Request<Line>) -> Result<Response<BoxStream<Line>>, Status> {
        let Line { text, count } = request.into_inner();
        text.parse().into_iter().for_each(|call| self.0.note(call));
        let (sender, lines) = tokio::sync::mpsc::channel(1);
        tokio::spawn(async move {
            for number in count + 1..=LENGTH {
                sleep(ms(50)).await;
                if sender.send(Ok(line(number))).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(Box::pin(tokio_stream::wrappers::ReceiverStream::new(lines))))
    }

    async fn tell(&self, _: Request<Streaming<Line>>) -> Result<Response<Line>, Status> {
        Err(Status::unimplemented("tell"))
    }

    async fn chat(&self, _: Request<Streaming<Line>>) -> Result<Response<BoxStream<Line>>, Status> {
        Err(Status::unimplemented("chat"))
    }
}

#[tonic::async_trait]
impl asset::asset_service_server::AssetService for Handlers {
    /// A page of a list; its token is the number of its first item.
    async fn list_assets(
        &self,
        request: Request<asset::ListAssetsRequest>,
    ) -> Result<Response<asset::ListAssetsResponse>, Status> {
        let asset::ListAssetsRequest { parent, page_token, .. } = request.into_inner();
        parent.parse().into_iter().for_each(|call| self.0.note(call));
        sleep(ms(10)).await;
        let first: u32 = page_token.parse().unwrap_or_default();
        let item = |item: u32| asset::Asset { name: item.to_string(), ..asset::Asset::default() };
        let next = first + PAGE;
        Ok(Response::new(asset::ListAssetsResponse {
            assets: (first..next).map(item).collect(),
            next_page_token: if next < LENGTH { next.to_string() } else { String::new() },
            ..asset::ListAssetsResponse::default()
        }))
    }

    async fn export_assets(
        &self,
        request: Request<asset::ExportAssetsRequest>,
    ) -> Result<Response<wire::Operation>, Status> {
        let name = format!("{}/0", request.into_inner().parent);
        Ok(Response::new(wire::Operation { name, ..wire::Operation::default() }))
    }
}

#[tonic::async_trait]
impl wire::operations_server::Operations for Handlers {
    /// An operation is done with its third poll.
    async fn get_operation(
        &self,
        request: Request<wire::GetOperationRequest>,
    ) -> Result<Response<wire::Operation>, Status> {
        let name = request.into_inner().name;
        let call = name.split('/').next().and_then(|call| call.parse().ok()).unwrap_or_default();
        self.0.note(call);
        sleep(ms(10)).await;
        let done = self.0.times(call) >= 3;
        let any = prost_types::Any {
            type_url: "type.googleapis.com/google.cloud.asset.v1.ExportAssetsResponse".to_owned(),
            value: asset::ExportAssetsResponse::default().encode_to_vec(),
        };
        let result = done.then_some(wire::operation::Result::Response(any));
        Ok(Response::new(wire::Operation { name, done, result, metadata: None }))
    }
}

/// All gRPC services, and HTTP requests whose path ends with the number of the call.
#[derive(Clone)]
pub(super) struct Server {
    ledger: Ledger,
    routes: Routes,
}

impl Server {
    pub(super) fn new(ledger: &Ledger) -> Self {
        let handlers = Handlers(ledger.clone());
        let routes = Routes::new(TalkServer::new(handlers.clone()))
            .add_service(asset::asset_service_server::AssetServiceServer::new(handlers.clone()))
            .add_service(wire::operations_server::OperationsServer::new(handlers))
            .prepare();
        Self { ledger: ledger.clone(), routes }
    }
}

/// The reply to the call of an HTTP request.
pub(super) fn reply(call: u32) -> String {
    format!("{{\"messageId\":\"{call}\"}}")
}

/// The number of the call of an HTTP request.
pub(super) fn call_of(path: &str) -> Option<u32> {
    let path = path.split('?').next().unwrap_or_default();
    path.rsplit('/').next().and_then(|call| call.parse().ok())
}

impl Service<http::Request<Body>> for Server {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<http::Request<Body>>::poll_ready(&mut self.routes, cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let path = request.uri().path();
        let Some(call) = path.starts_with("/v1/").then(|| call_of(path)).flatten() else {
            return Box::pin(self.routes.call(request));
        };
        self.ledger.note(call);
        let body = http_body_util::Full::new(Bytes::from(reply(call)));
        let mut response = http::Response::new(Body::new(body));
        response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
        Box::pin(ready(Ok(response)))
    }
}
