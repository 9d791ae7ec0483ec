//! The real handlers of the Talk service.

use crate::generated::test::talk::v1::Line;
use crate::generated::test::talk::v1::talk_server::Talk;
use tokio_stream::StreamExt as _;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status, Streaming};

/// Repeats what it hears.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Talker;

#[tonic::async_trait]
impl Talk for Talker {
    async fn ask(&self, request: Request<Line>) -> Result<Response<Line>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn guess(&self, request: Request<Line>) -> Result<Response<Line>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn listen(&self, request: Request<Line>) -> Result<Response<BoxStream<Line>>, Status> {
        let Line { text, count } = request.into_inner();
        let line = move |number| Ok(Line { text: format!("{text} {number}"), count: number });
        Ok(Response::new(Box::pin(tokio_stream::iter((0..count).map(line)))))
    }

    async fn tell(&self, request: Request<Streaming<Line>>) -> Result<Response<Line>, Status> {
        let mut lines = request.into_inner();
        let mut last = Line::default();
        while let Some(line) = lines.message().await? {
            last.text = line.text;
            last.count += 1;
        }
        Ok(Response::new(last))
    }

    async fn chat(&self, request: Request<Streaming<Line>>) -> Result<Response<BoxStream<Line>>, Status> {
        Ok(Response::new(Box::pin(request.into_inner().map(|line| line))))
    }
}
