//! A server's replies, as the tests script them.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use gax_client::longrunning::rpc::Status;
use gax_client::longrunning::{Operation, operation};
use prost::Message;
use prost_types::Any;
use std::time::Duration;
use tonic::Code;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_gax::AssetServiceClient;
use tonic_gax_tests::generated::google::cloud::asset::v1::{ExportAssetsRequest, ExportAssetsResponse};
use tonic_gax_tests::generated::test::instances::v1::{Instance, OperationMetadata};
use tonic_gax_tests::{Reply, Script, VirtualServer, ms};

pub(super) const NAME: &str = "operations/7";
pub(super) const START: &str = "ExportAssets";
pub(super) const GET: &str = "GetOperation";

/// A server's reply and how long after the request it comes.
pub(super) type Step = (Duration, Reply);

pub(super) fn any(name: &str, message: &impl Message) -> Any {
    Any { type_url: format!("type.googleapis.com/{name}"), value: message.encode_to_vec() }
}

pub(super) fn running() -> Operation {
    Operation { name: NAME.to_owned(), ..Operation::default() }
}

pub(super) fn done(result: Option<operation::Result>) -> Operation {
    Operation { done: true, result, ..running() }
}

pub(super) fn with_response(response: Any) -> Operation {
    done(Some(operation::Result::Response(response)))
}

pub(super) fn with_error(code: Code, message: &str, details: Vec<Any>) -> Operation {
    let error = Status { code: code.into(), message: message.to_owned(), details };
    done(Some(operation::Result::Error(error)))
}

pub(super) fn exported() -> Operation {
    with_response(any("google.cloud.asset.v1.ExportAssetsResponse", &ExportAssetsResponse::default()))
}

/// That operation, with the metadata of an export from that parent.
pub(super) fn exporting(parent: &str, operation: Operation) -> Operation {
    let metadata = ExportAssetsRequest { parent: parent.to_owned(), ..ExportAssetsRequest::default() };
    Operation { metadata: Some(any("google.cloud.asset.v1.ExportAssetsRequest", &metadata)), ..operation }
}

/// That operation, with so much of it done.
pub(super) fn at(percent: i32, operation: Operation) -> Operation {
    let metadata = OperationMetadata { target: "instances/a".to_owned(), percent };
    Operation { metadata: Some(any("test.instances.v1.OperationMetadata", &metadata)), ..operation }
}

pub(super) fn created() -> Operation {
    let instance = Instance { name: "instances/a".to_owned(), memory_size_gb: 4 };
    with_response(any("test.instances.v1.Instance", &instance))
}

/// That operation, after 20 ms.
pub(super) fn replies(operation: &Operation) -> Step {
    (ms(20), Reply::message(operation))
}

pub(super) fn fails(code: Code) -> Step {
    (ms(20), Reply::code(code))
}

/// A server that starts an operation and then replies to each poll in turn, with the last reply again and again.
pub(super) fn server(start: Step, polls: impl IntoIterator<Item = Step>) -> VirtualServer {
    let mut polls: Vec<Step> = polls.into_iter().collect();
    let last = polls.pop().unwrap();
    let again = std::iter::repeat_n(last, 200);
    let script = Script::new().on(START, [start]).on(GET, polls.into_iter().chain(again));
    let taken = || std::iter::repeat_n(Reply::message(&()), 9);
    VirtualServer::start(script.on("CancelOperation", taken()).on("DeleteOperation", taken()))
}

/// The method of each request that came, and when, in milliseconds.
pub(super) fn seen(server: &VirtualServer) -> Vec<(String, u64)> {
    let arrivals = server.arrivals().into_iter();
    arrivals
        .map(|arrival| {
            let method = arrival.path.rsplit('/').next().unwrap().to_owned();
            (method, u64::try_from(arrival.at.as_millis()).unwrap())
        })
        .collect()
}

/// The times of the polls alone.
pub(super) fn polls(server: &VirtualServer) -> Vec<u64> {
    seen(server).into_iter().filter(|(method, _)| method == GET).map(|(_, at)| at).collect()
}

pub(super) fn client(server: &VirtualServer) -> AssetServiceClient<tonic::transport::Channel> {
    client_with(server, |_| ())
}

use tonic_gax::OperationOptions;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_gax::{
    AssetServiceSettings, AssetServiceStubSettings, AssetServiceStubSettingsBuilder,
};

/// A client without jitter whose settings are changed so.
pub(super) fn client_with(
    server: &VirtualServer,
    change: impl FnOnce(&mut AssetServiceStubSettingsBuilder),
) -> AssetServiceClient<tonic::transport::Channel> {
    let mut builder = AssetServiceStubSettings::builder();
    change(&mut builder);
    let settings = AssetServiceSettings::create(builder.build().unwrap())
        .with_options(OperationOptions::new().without_jitter());
    AssetServiceClient::with_settings(server.channel(), settings)
}

pub(super) fn request() -> ExportAssetsRequest {
    ExportAssetsRequest { parent: "projects/1".to_owned(), ..ExportAssetsRequest::default() }
}
