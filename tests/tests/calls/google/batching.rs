//! Batches of generated clients, as GAPIC YAML describes them.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use gax_batching::{Batcher, ElementFailure};
use std::sync::{Arc, Mutex};
use tonic::{Request, Response, Status};
use tonic_gax_tests::generated::test::instances::v1::topics_gax::{TopicsClient, TopicsSettings};
use tonic_gax_tests::generated::test::instances::v1::topics_server::{Topics, TopicsServer};
use tonic_gax_tests::generated::test::instances::v1::{PublishRequest, PublishResponse};

/// Replies with so many ids, and keeps what it was sent.
#[derive(Debug, Default)]
struct Server {
    ids: usize,
    seen: Mutex<Vec<Vec<String>>>,
}

#[tonic::async_trait]
impl Topics for Server {
    async fn publish(&self, request: Request<PublishRequest>) -> Result<Response<PublishResponse>, Status> {
        self.seen.lock().unwrap().push(request.into_inner().messages);
        Ok(Response::new(PublishResponse { message_ids: (0..self.ids).map(|id| id.to_string()).collect() }))
    }

    async fn write(&self, request: Request<PublishRequest>) -> Result<Response<()>, Status> {
        self.seen.lock().unwrap().push(request.into_inner().messages);
        Ok(Response::new(()))
    }
}

fn client(ids: usize) -> (TopicsClient<TopicsServer<Server>>, Arc<Server>) {
    let server = Arc::new(Server { ids, ..Server::default() });
    let service = TopicsServer::from_arc(Arc::clone(&server));
    (TopicsClient::with_settings(service, TopicsSettings::default()), server)
}

fn request(messages: &[&str]) -> PublishRequest {
    PublishRequest {
        topic: "t".to_owned(),
        messages: messages.iter().map(|text| (*text).to_owned()).collect(),
    }
}

#[tokio::test(start_paused = true)]
async fn each_caller_has_the_ids_of_its_messages_or_an_error() {
    for ids in [4, 3, 5] {
        let (client, server) = client(ids);
        let batcher = Batcher::spawn(client.publish_batching()).unwrap();
        let requests = [request(&["a"]), request(&["b", "c"]), request(&["d"])];
        let elements = requests.map(|request| batcher.try_add(request).unwrap());
        batcher.close().await;
        assert_eq!(*server.seen.lock().unwrap(), [["a", "b", "c", "d"]]);
        let mut replies = Vec::new();
        for element in elements {
            let reply = element.await.map(|reply| reply.into_value().message_ids);
            replies.push(reply.map_err(|error| error.failure()));
        }
        if ids == 4 {
            let ids = |ids: &[&str]| Ok(ids.iter().map(|id| (*id).to_owned()).collect());
            assert_eq!(replies, [ids(&["0"]), ids(&["1", "2"]), ids(&["3"])]);
        } else {
            let wrong = Err(ElementFailure::WrongReplies { elements: 4, replies: ids });
            assert_eq!(replies, [wrong.clone(), wrong.clone(), wrong]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_may_be_empty() {
    let (client, server) = client(0);
    let batcher = Batcher::spawn(client.write_batching()).unwrap();
    let elements = [request(&["a"]), request(&["b", "c"])].map(|request| batcher.try_add(request).unwrap());
    batcher.close().await;
    for element in elements {
        element.await.unwrap();
    }
    assert_eq!(*server.seen.lock().unwrap(), [["a", "b", "c"]]);
}
