//! One call over a client of this project, by a service config: `tonic-gax-suite-client MODE TARGET CONFIG`, where the mode is `layer`,
//! `generated` or `grpc`.
#![expect(clippy::print_stdout, reason = "it says how the call ended")]

use bytes::{Buf, Bytes};
use gax_grpc::RetryInterceptor;
use gax_table::live::SettingsHandle;
use gax_table::{Dialect, RetryTable};
use grpc::client::interceptor::InvokeExt as _;
use grpc::client::{CallOptions, Channel, ChannelOptions, Invoke as _, RecvStream as _, ResponseStreamItem};
use grpc::client::{SendOptions, SendStream as _};
use grpc::core::{RecvMessage, RequestHeaders, SendMessage};
use grpc::credentials::LocalChannelCredentials;
use health::{HealthCheckRequest, HealthClient, HealthSettings, health_client};
use std::error::Error;
use std::sync::Arc;
use tonic_gax::{Compatibility, OperationOptions, RetryLayer};

#[expect(
    unreachable_pub,
    unused_qualifications,
    clippy::allow_attributes_without_reason,
    reason = "generated"
)]
mod health {
    include!(concat!(env!("OUT_DIR"), "/grpc.health.v1.rs"));
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, target, config] = arguments.as_slice() else { return Err("give MODE TARGET CONFIG".into()) };
    let table = RetryTable::reader().dialect(Dialect::Grpc).read(&std::fs::read(config)?)?;
    let url = format!("http://{target}");
    match mode.as_str() {
        "layer" => {
            let channel = RetryLayer::new(table).layer(gax_client::connect(url).await?);
            let reply = health_client::HealthClient::new(channel).check(HealthCheckRequest {}).await;
            println!("{:?}", reply.map(tonic::Response::into_inner));
        }
        "generated" => {
            let rules = OperationOptions::new().compatibility(Compatibility::Grpc);
            let settings = HealthSettings::default().live(SettingsHandle::new(table)).with_options(rules);
            let client = HealthClient::connect_with_settings(url, settings).await?;
            let reply = client.check(HealthCheckRequest {}).await;
            println!("{:?}", reply.map(tonic::Response::into_inner));
        }
        "grpc" => println!("{}", check(table, target).await),
        mode => return Err(format!("there is no mode {mode:?}").into()),
    }
    Ok(())
}

/// A message without fields.
struct Empty;

impl SendMessage for Empty {
    fn encode(&self) -> Result<Box<dyn Buf + Send + Sync>, String> {
        Ok(Box::new(Bytes::new()))
    }
}

impl RecvMessage for Empty {
    fn decode(&mut self, data: &mut dyn Buf) -> Result<(), String> {
        data.advance(data.remaining());
        Ok(())
    }
}

/// The call over the `grpc` crate.
async fn check(table: RetryTable, target: &str) -> String {
    let credentials = Arc::new(LocalChannelCredentials::new());
    let channel = Channel::new(format!("dns:///{target}"), credentials, ChannelOptions::default());
    let channel = channel.with_interceptor(RetryInterceptor::new(table));
    let headers = RequestHeaders::new().with_method_name("/grpc.health.v1.Health/Check");
    let (mut sender, mut receiver) = channel.invoke(headers, CallOptions::new()).await;
    // If the request can't be sent, the trailers say why.
    let _unsent = sender.send(&Empty, SendOptions::new().with_final_msg(true)).await;
    loop {
        if let ResponseStreamItem::Trailers(trailers) = receiver.recv(&mut Empty).await {
            return format!("{:?}", trailers.into_status());
        }
    }
}
