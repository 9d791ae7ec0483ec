//! The clients that the cases are run with.

use crate::RawServer;
use crate::generated::google::cloud::asset::v1::ListAssetsRequest;
use crate::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient;
use crate::generated::test::talk::v1::Line;
use crate::generated::test::talk::v1::talk_client::TalkClient;
use gax_table::{Dialect, RetryTable};
use std::time::Duration;
use tokio_stream::Stream;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use tonic_gax::{
    CallOptions, OperationError, OperationOptions, OperationReport, ReplayOptions, RequestExt as _,
    RetryLayer, RetryService,
};

/// A client that retries by a service config.
pub trait A6Client: Sized + Send + 'static {
    /// Makes a client of that server.
    fn connect(server: &RawServer, config: &str, replay: ReplayOptions) -> Self;

    /// Calls `ListAssets`, within that time.
    fn list(&self, request: ListAssetsRequest, within: Option<Duration>)
    -> impl Future<Output = Code> + Send;

    /// Calls `Tell`, whose request is a stream. With the report, where there is one.
    fn tell(
        &self,
        lines: impl Stream<Item = Line> + Send + 'static,
    ) -> impl Future<Output = (Code, Option<OperationReport>)> + Send;
}

/// The table of a service config, and options that repeat its waits.
pub fn table_of(config: &str) -> (RetryTable, OperationOptions) {
    let table = RetryTable::reader().dialect(Dialect::Grpc).read(config.as_bytes()).unwrap();
    (table, OperationOptions::new().jitter_seed(3))
}

/// The layer for a service config.
pub fn layer_of(config: &str) -> RetryLayer {
    let (table, options) = table_of(config);
    RetryLayer::new(table).facts(&crate::generated::facts()).options(options)
}

/// tonic's own clients over the layer.
#[derive(Debug)]
pub struct LayerClient(RetryService<Channel>);

impl A6Client for LayerClient {
    fn connect(server: &RawServer, config: &str, replay: ReplayOptions) -> Self {
        Self(layer_of(config).replay(replay).layer(server.channel()))
    }

    async fn list(&self, request: ListAssetsRequest, within: Option<Duration>) -> Code {
        let mut request = Request::new(request);
        if let Some(within) = within {
            request = request.with_call_options(CallOptions::new().timeout(within));
        }
        let result = AssetServiceClient::new(self.0.clone()).list_assets(request).await;
        result.err().map_or(Code::Ok, |status| status.code())
    }

    async fn tell(
        &self,
        lines: impl Stream<Item = Line> + Send + 'static,
    ) -> (Code, Option<OperationReport>) {
        let failed = |status: &Status| OperationError::of(status).map(|error| error.report().clone());
        match TalkClient::new(self.0.clone()).tell(lines).await {
            Ok(_) => (Code::Ok, None),
            Err(status) => (status.code(), failed(&status)),
        }
    }
}
