//! The clients that callers share.

use super::settings::{CLOSURES, HTTP};
use super::tally::Tally;
use crate::generated::test::talk::v1::talk_client::TalkClient as TonicTalkClient;
use crate::generated::test::talk::v1::{TalkClient, TalkSettings};
use bytes::Bytes;
use gax_driver::Retryer;
use gax_driver::observe::{FacadeMetrics, MetricNames, OperationObserver, TracingObserver};
use gax_http::{HttpRetryLayer, HttpRetryService, OperationOptions};
use gax_retry::{Code, RetryBudget};
use gax_table::live::SettingsHandle;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::net::SocketAddr;
use std::sync::Arc;
use tonic::transport::{Channel, Endpoint};
use tonic_gax::{RetryLayer, RetryService};

/// The clients of a gRPC server: the generated one, and tonic's own over the layer.
#[derive(Debug, Clone)]
pub(super) struct GrpcClients {
    pub(super) generated: TalkClient<Channel>,
    pub(super) layered: TonicTalkClient<RetryService<Channel>>,
}

/// The observers besides the tally, as in production.
fn others() -> [Arc<dyn OperationObserver>; 2] {
    [Arc::new(TracingObserver::new()), Arc::new(FacadeMetrics::new(MetricNames::new()))]
}

impl GrpcClients {
    pub(super) fn new(server: SocketAddr, handle: &SettingsHandle, tally: &Arc<Tally>) -> Self {
        let channel = || Endpoint::from_shared(format!("http://{server}")).unwrap().connect_lazy();
        let mut settings = TalkSettings::default().live(handle).with_options(
            OperationOptions::new().retry_budget(RetryBudget::tokens(1000, 0.5)).observer(tally.clone()),
        );
        let mut layer = RetryLayer::live(handle).facts(&crate::generated::facts()).options(
            OperationOptions::new()
                .retry_budget(RetryBudget::ratio(0.4).min_per_second(50))
                .observer(tally.clone()),
        );
        for other in others() {
            settings = settings.with_options(OperationOptions::new().observer(other.clone()));
            layer = layer.options(OperationOptions::new().observer(other));
        }
        let generated = TalkClient::with_settings(channel(), settings);
        Self { generated, layered: TonicTalkClient::new(layer.layer(channel())) }
    }
}

/// A client of an HTTP server.
pub(super) type HttpClient = HttpRetryService<Client<HttpConnector, Full<Bytes>>>;

pub(super) fn http_client(handle: &SettingsHandle, tally: &Arc<Tally>) -> HttpClient {
    let mut layer = HttpRetryLayer::live(handle, HTTP).options(
        OperationOptions::new()
            .retry_budget(RetryBudget::ratio(0.4).min_per_second(50))
            .observer(tally.clone()),
    );
    for other in others() {
        layer = layer.options(OperationOptions::new().observer(other));
    }
    layer.layer(Client::builder(TokioExecutor::new()).build_http())
}

pub(super) fn retryer(handle: &SettingsHandle, tally: &Arc<Tally>) -> Retryer<[Code; 1]> {
    let retryer = Retryer::live(handle, CLOSURES, [Code::Unavailable]);
    let retryer = retryer
        .options(OperationOptions::new().retry_budget(RetryBudget::tokens(1000, 0.5)))
        .named("soak")
        .options(OperationOptions::new().observer(tally.clone()));
    others()
        .into_iter()
        .fold(retryer, |retryer, other| retryer.options(OperationOptions::new().observer(other)))
}
