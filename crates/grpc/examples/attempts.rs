//! A client over the `grpc` crate, written by hand, that prints each attempt of its call.
//!
//! It calls the server of `gax serve`, which rejects the first two attempts of each call:
//!
//! ```text
//! cargo run -- serve
//! cargo run --package gax-grpc --example attempts
//! ```

use bytes::{Buf, Bytes};
use gax_driver::{Code, OperationOptions, RetrySettings};
use gax_grpc::{RetriedCall, RetryInterceptor};
use gax_table::RetryTable;
use grpc::client::interceptor::InvokeExt as _;
use grpc::client::{CallOptions, Channel, ChannelOptions, Invoke, RecvStream as _, ResponseStreamItem};
use grpc::client::{SendOptions, SendStream as _};
use grpc::core::{RecvMessage, RequestHeaders, SendMessage};
use grpc::credentials::LocalChannelCredentials;
use prost::Message;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// `google.cloud.asset.v1.ListAssetsRequest`, as far as it is used here.
#[derive(Clone, PartialEq, Message)]
struct ListAssetsRequest {
    #[prost(string, tag = "1")]
    parent: String,
}

/// `google.cloud.asset.v1.ListAssetsResponse`.
#[derive(Clone, PartialEq, Message)]
struct ListAssetsResponse {
    #[prost(message, repeated, tag = "2")]
    assets: Vec<Asset>,
}

/// `google.cloud.asset.v1.Asset`.
#[derive(Clone, PartialEq, Message)]
struct Asset {
    #[prost(string, tag = "1")]
    name: String,
}

impl SendMessage for ListAssetsRequest {
    fn encode(&self) -> Result<Box<dyn Buf + Send + Sync>, String> {
        Ok(Box::new(Bytes::from(self.encode_to_vec())))
    }
}

impl RecvMessage for ListAssetsResponse {
    fn decode(&mut self, data: &mut dyn Buf) -> Result<(), String> {
        self.merge(data).map_err(|error| error.to_string())
    }
}

/// A unary call, as generated clients make it.
async fn list_assets(
    channel: &impl Invoke,
    request: &ListAssetsRequest,
) -> Result<ListAssetsResponse, grpc::StatusError> {
    let headers = RequestHeaders::new().with_method_name("/google.cloud.asset.v1.AssetService/ListAssets");
    let (mut sender, mut receiver) = channel.invoke(headers, CallOptions::new()).await;
    // If the request can't be sent, the trailers say why.
    let _unsent = sender.send(request, SendOptions::new().with_final_msg(true)).await;
    let mut response = ListAssetsResponse::default();
    loop {
        if let ResponseStreamItem::Trailers(trailers) = receiver.recv(&mut response).await {
            return trailers.into_status().map(|()| response);
        }
    }
}

/// Calls the service at that address.
pub(crate) async fn run(address: &str) -> Result<(), Box<dyn Error>> {
    let settings = RetrySettings::builder()
        .initial_retry_delay(Duration::from_millis(100))
        .retry_delay_multiplier(2.0)
        .total_timeout(Duration::from_secs(10))
        .build()?;
    let table = RetryTable::builder()
        .service("google.cloud.asset.v1.AssetService", settings, [Code::Unavailable])
        .build()?;
    let options = OperationOptions::new().on_retry(|retry| println!("{retry}"));
    let channel = Channel::new(
        format!("dns:///{address}"),
        Arc::new(LocalChannelCredentials::new()),
        ChannelOptions::default(),
    );
    let channel = channel.with_interceptor(RetryInterceptor::new(table).options(options));

    let call = RetriedCall::new(gax_driver::CallOptions::new().report(true));
    let channel = channel.with_interceptor(call.clone());
    let request = ListAssetsRequest { parent: "projects/demo".to_owned() };
    let response = list_assets(&channel, &request).await;
    let response = response.map_err(|status| format!("{:?}: {}", status.code(), status.message()))?;
    for asset in response.assets {
        println!("{}", asset.name);
    }
    if let Some(report) = call.report() {
        println!("{report}");
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    run("127.0.0.1:50051").await
}
