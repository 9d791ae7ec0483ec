//! The suite that operations over every transport pass.

use crate::support::{Bridge, LIST, call};
use gax_grpc::{RetriedCall, RetryInterceptor};
use gax_table::RetryTable;
use gax_testing::{SuitePart, TestedAttempt, TestedTransport, Trial, run_suite};
use grpc::client::CallOptions as GrpcOptions;
use grpc::client::interceptor::InvokeExt as _;
use grpc::core::RequestHeaders;
use std::pin::Pin;
use std::time::Duration;
use tonic_gax::{CallOptions, Hedging, OperationReport};
use tonic_gax_tests::generated::google::cloud::asset::v1::{ListAssetsRequest, ListAssetsResponse};
use tonic_gax_tests::{BodyPart, Reply, Script, VirtualServer};

struct GrpcCrate;

impl TestedTransport for GrpcCrate {
    fn run(&self, trial: Trial) -> Pin<Box<dyn Future<Output = OperationReport>>> {
        let replies = trial.attempts().iter().map(|attempt| match *attempt {
            TestedAttempt::Replies(after) => (after, Reply::message(&ListAssetsResponse::default())),
            TestedAttempt::Fails(after, code) => (after, Reply::code(tonic::Code::from(code as i32))),
            TestedAttempt::IsRefused(after) => (after, Reply::code(tonic::Code::Unauthenticated)),
            TestedAttempt::BreaksOff(after) => {
                let down = BodyPart::status(&tonic::Status::unavailable("down"));
                let then = [BodyPart::Wait(after), down];
                (Duration::ZERO, Reply::messages_then(&[ListAssetsResponse::default()], then))
            }
            _ => (Duration::ZERO, Reply::Hang),
        });
        let server = VirtualServer::start(Script::of(replies));
        let table = RetryTable::builder()
            .service("google.cloud.asset.v1.AssetService", trial.settings().clone(), trial.codes())
            .build()
            .unwrap();
        let retries = RetryInterceptor::new(table).options(trial.options());
        let retries = retries.hedging(trial.hedging().map(Hedging::allow_non_idempotent));
        let own = RetriedCall::new(CallOptions::new());
        let channel = Bridge(server.channel()).with_interceptor(retries).with_interceptor(own.clone());
        Box::pin(async move {
            let headers = RequestHeaders::new().with_method_name(LIST);
            let request = ListAssetsRequest::default();
            let _ended = call::<ListAssetsResponse>(&channel, headers, GrpcOptions::new(), &request).await;
            own.report().unwrap()
        })
    }

    fn exempts(&self, part: SuitePart) -> Option<&'static str> {
        (part == SuitePart::Credentials).then_some(OWN_CREDENTIALS)
    }
}

const OWN_CREDENTIALS: &str =
    "the crate has call credentials of its own, which can't be told that they were refused";

#[tokio::test(start_paused = true)]
async fn it_passes() {
    assert_eq!(run_suite(&GrpcCrate).await, Ok(vec![(SuitePart::Credentials, OWN_CREDENTIALS)]));
}
