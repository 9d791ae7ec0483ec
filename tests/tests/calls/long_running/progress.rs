//! The metadata of operations, as it comes.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::replies::{at, created, polls, replies, running};
use tokio_stream::StreamExt as _;
use tonic_gax_tests::generated::test::instances::v1::instances_gax::InstancesClient;
use tonic_gax_tests::generated::test::instances::v1::{CreateInstanceRequest, DeleteInstanceRequest};
use tonic_gax_tests::{Script, VirtualServer};

fn server(
    method: &str,
    replies: impl IntoIterator<Item = gax_client::longrunning::Operation>,
) -> VirtualServer {
    let mut replies = replies.into_iter().map(|operation| super::replies::replies(&operation));
    let start = replies.next().unwrap();
    VirtualServer::start(Script::new().on(method, [start]).on("GetOperation", replies))
}

#[tokio::test(start_paused = true)]
async fn progress_comes_with_each_reply_and_the_response_in_the_end() {
    let server = server(
        "CreateInstance",
        [at(0, running()), at(30, running()), running(), at(80, running()), at(100, created())],
    );
    let mut create =
        InstancesClient::new(server.channel()).create_instance_operation(CreateInstanceRequest::default());
    assert_eq!(create.metadata(), None);
    let percents: Vec<i32> = create.progress().map(|metadata| metadata.percent).collect().await;
    assert_eq!(percents, [0, 30, 80, 100]);
    assert_eq!(create.metadata().unwrap().percent, 100);
    assert!(create.is_done());
    assert_eq!(create.await.unwrap().memory_size_gb, 4);
}

/// By the GAPIC YAML, jittered: between half a delay and the whole.
#[tokio::test(start_paused = true)]
async fn polls_come_as_gapic_yaml_says_and_never_before_half_their_delay() {
    let never = (0..100).map(|percent| at(percent, running()));
    let server = server("CreateInstance", never);
    let client = InstancesClient::new(server.channel());
    let error = client.create_instance_operation(CreateInstanceRequest::default()).await.unwrap_err();
    let times = polls(&server);
    let mut before = 20;
    for (time, delay) in times.iter().zip([60, 90, 135, 202]) {
        let waited = time - before;
        assert!((delay * 500..=delay * 1000 + 520).contains(&waited), "{waited} of {delay}: {times:?}");
        before = time + 20;
    }
    assert!(error.end().report().elapsed().as_secs() <= 1200, "{error}");
}

/// It has no response, and needs none.
#[tokio::test(start_paused = true)]
async fn an_empty_response_may_be_missing() {
    let nothing = super::replies::done(None);
    let empty = super::replies::with_response(super::replies::any("google.protobuf.Empty", &()));
    for last in [nothing, empty] {
        let server = server("DeleteInstance", [at(0, running()), at(100, last)]);
        let client = InstancesClient::new(server.channel());
        client.delete_instance_operation(DeleteInstanceRequest::default()).await.unwrap();
    }
}

/// The handle goes on where its progress was left.
#[tokio::test(start_paused = true)]
async fn progress_can_be_dropped_and_taken_up() {
    let server = server("CreateInstance", [at(0, running()), at(50, running()), at(100, created())]);
    let mut create =
        InstancesClient::new(server.channel()).create_instance_operation(CreateInstanceRequest::default());
    assert_eq!(create.progress().next().await.unwrap().percent, 0);
    assert_eq!(create.progress().next().await.unwrap().percent, 50);
    assert_eq!(create.await.unwrap().name, "instances/a");
    assert_eq!(replies(&running()).0.as_millis(), 20);
}
