//! A request of reqwest's on its way through the layer.

use crate::failure::HttpError;
use crate::request::ReplayBody;
use crate::reqwest::body::replayable;
use crate::reqwest::service::ReqwestService;
use crate::service::HttpRetryService;
use ::reqwest::{Body, Response};
use http::header::CONTENT_LENGTH;

/// The body of a request.
pub(super) enum Sent {
    Reqwests(Body),
    Ours(ReplayBody),
}

/// Sends a request, as often as it takes.
pub(super) async fn run(
    service: &HttpRetryService<ReqwestService>,
    request: http::Request<Sent>,
) -> Result<Response, HttpError> {
    let is_announced = request.headers().contains_key(CONTENT_LENGTH);
    let most = service.max_replay_bytes();
    let request = request.map(|body| match body {
        Sent::Reqwests(body) => replayable(body, is_announced, most),
        Sent::Ours(body) => body,
    });
    let response = service.send(request).await?;
    Ok(Response::from(response.map(Body::wrap)))
}
