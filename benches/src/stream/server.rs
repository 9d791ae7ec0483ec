//! The streams over the loopback interface.

use super::part;
use crate::bench::Part;
use crate::bench::streams_server;
use tokio_stream::StreamExt as _;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status, Streaming};

/// Sends as many messages as it is asked for, takes all that come, and replies to each.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing in it")]
pub struct Streams;

type Parts = BoxStream<Part>;

#[tonic::async_trait]
impl streams_server::Streams for Streams {
    async fn watch(&self, request: Request<Part>) -> Result<Response<Parts>, Status> {
        let count = request.into_inner().number;
        Ok(Response::new(Box::pin(tokio_stream::iter((0..count).map(|number| Ok(part(number)))))))
    }

    async fn collect(&self, request: Request<Streaming<Part>>) -> Result<Response<Part>, Status> {
        let mut requests = request.into_inner();
        let mut count = 0;
        while requests.message().await?.is_some() {
            count += 1;
        }
        Ok(Response::new(part(count)))
    }

    async fn talk(&self, request: Request<Streaming<Part>>) -> Result<Response<Parts>, Status> {
        let replies = request.into_inner().map(|message| message.map(|message| part(message.number)));
        Ok(Response::new(Box::pin(replies)))
    }
}
