//! The cases of gRFC A6 that the layer passes, except for two: the crate's statuses have no cause, so that there are no
//! transparent retries, and its metadata has no empty values, such as a pushback without a number.

use crate::support::{Bridge, Came, LIST, Sent, call};
use gax_grpc::{RetriedCall, RetryInterceptor};
use grpc::StatusCodeError;
use grpc::client::interceptor::{Intercepted, InvokeExt as _};
use grpc::client::{CallOptions as GrpcOptions, Invoke as _, RecvStream as _, ResponseStreamItem};
use grpc::client::{SendOptions, SendStream as _};
use grpc::core::{RequestHeaders, Trailers};
use std::time::Duration;
use tokio_stream::{Stream, StreamExt as _};
use tonic::Code;
use tonic_gax::{CallOptions, OperationReport, ReplayOptions};
use tonic_gax_tests::RawServer;
use tonic_gax_tests::a6::hedging::{
    errors_bring_the_next_attempt_or_the_end, h15_throttled_hedges_are_withheld, pushback_holds_hedges_back,
    the_deadline_and_the_commit_end_all, the_first_good_reply_wins, to_drop_the_call_resets_every_attempt,
};
use tonic_gax_tests::a6::rows::{commit, deadlines, pushback, retries, throttling};
use tonic_gax_tests::a6::streams::{
    a_message_over_the_limit_ends_hedging, a_stream_of_requests_over_a_limit_is_committed,
    a_unary_request_over_the_limit_is_sent_once, messages_so_far_are_replayed,
};
use tonic_gax_tests::a6::{A6Client, table_of};
use tonic_gax_tests::generated::google::cloud::asset::v1::{ListAssetsRequest, ListAssetsResponse};
use tonic_gax_tests::generated::test::talk::v1::Line;

struct GrpcClient(Intercepted<Bridge, RetryInterceptor>);

impl A6Client for GrpcClient {
    fn connect(server: &RawServer, config: &str, replay: ReplayOptions) -> Self {
        let (table, options) = table_of(config);
        let retries = RetryInterceptor::new(table).options(options).replay(replay);
        Self(Bridge(server.channel()).with_interceptor(retries))
    }

    async fn list(&self, request: ListAssetsRequest, within: Option<Duration>) -> Code {
        let options = within.map_or(CallOptions::new(), |within| CallOptions::new().timeout(within));
        let channel = self.0.clone().with_interceptor(RetriedCall::new(options));
        let headers = RequestHeaders::new().with_method_name(LIST);
        let (_, trailers) = call::<ListAssetsResponse>(&channel, headers, GrpcOptions::new(), &request).await;
        code(&trailers)
    }

    async fn tell(
        &self,
        lines: impl Stream<Item = Line> + Send + 'static,
    ) -> (Code, Option<OperationReport>) {
        let own = RetriedCall::new(CallOptions::new());
        let channel = self.0.clone().with_interceptor(own.clone());
        let headers = RequestHeaders::new().with_method_name("/test.talk.v1.Talk/Tell");
        let (mut sender, mut receiver) = channel.invoke(headers, GrpcOptions::new()).await;
        let sending = async move {
            let mut lines = Box::pin(lines);
            while let Some(line) = lines.next().await {
                if sender.send(&Sent(&line), SendOptions::new()).await.is_err() {
                    return;
                }
            }
        };
        let receiving = async {
            loop {
                if let ResponseStreamItem::Trailers(trailers) =
                    receiver.recv(&mut Came(&mut Line::default())).await
                {
                    return code(&trailers);
                }
            }
        };
        let (code, ()) = tokio::join!(receiving, sending);
        (code, own.report())
    }
}

fn code(trailers: &Trailers) -> Code {
    trailers.status().as_ref().err().map_or(Code::Ok, |status| Code::from(number(status.code())))
}

fn number(code: StatusCodeError) -> i32 {
    code as i32
}

#[tokio::test(start_paused = true)]
async fn calls() {
    retries::<GrpcClient>().await;
    pushback::<GrpcClient>().await;
    commit::<GrpcClient>().await;
    throttling::<GrpcClient>().await;
    deadlines::<GrpcClient>().await;
}

#[tokio::test(start_paused = true)]
async fn requests_that_are_sent_again() {
    a_unary_request_over_the_limit_is_sent_once::<GrpcClient>().await;
    a_stream_of_requests_over_a_limit_is_committed::<GrpcClient>().await;
    messages_so_far_are_replayed::<GrpcClient>().await;
    a_message_over_the_limit_ends_hedging::<GrpcClient>().await;
}

#[tokio::test(start_paused = true)]
async fn hedges() {
    the_first_good_reply_wins::<GrpcClient>().await;
    errors_bring_the_next_attempt_or_the_end::<GrpcClient>().await;
    pushback_holds_hedges_back::<GrpcClient>().await;
    h15_throttled_hedges_are_withheld::<GrpcClient>().await;
    the_deadline_and_the_commit_end_all::<GrpcClient>().await;
    to_drop_the_call_resets_every_attempt::<GrpcClient>().await;
}
