//! HTTP requests, REST calls and transfers.

use crate::faults::misbehaviours::clients::client::{Calls, End};
use crate::faults::misbehaviours::clients::connector::Connector;
use crate::faults::misbehaviours::clients::settings::{CODES, settings};
use bytes::Bytes;
use gax_driver::report::Delivery;
use gax_http::HttpRetryLayer;
use gax_http::{HttpRetryService, ReplayBody};
use gax_rest::{RestHttpService, RestOptions, RestTransport};
use gax_transfer::{Download, Upload};
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::rt::TokioExecutor;
use tonic_gax::{CodeSet, OperationOptions};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::messaging_gax::{
    MessagingClient, MessagingSettings, MessagingStubSettings,
};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::{GetRevisionRequest, Message};
use tonic_gax_tests::ms;
use tower_service::Service;

/// A `GET` or a `POST`.
pub(crate) fn request<B: Default>(call: u32) -> http::Request<B> {
    let method = if call.is_multiple_of(2) { http::Method::GET } else { http::Method::POST };
    let uri = format!("http://server.test/v1/messages/{call}");
    http::Request::builder().method(method).uri(uri).body(B::default()).unwrap()
}

pub(crate) async fn body_of<B>(response: http::Response<B>, call: u32) -> End
where
    B: http_body::Body,
    B::Error: std::fmt::Display,
{
    let status = response.status();
    match http_body_util::BodyExt::collect(response.into_body())
        .await
        .map(http_body_util::Collected::to_bytes)
    {
        Err(error) => End::failed(error),
        Ok(body) if status == 200 && body == crate::faults::misbehaviours::server::reply(call) => End::Done,
        Ok(_) => End::Wrong(status.to_string()),
    }
}

/// The client of HTTP requests.
pub(crate) fn http_client(
    connector: &Connector,
    is_http2: bool,
) -> HttpRetryService<Hyper<Connector, ReplayBody>> {
    HttpRetryLayer::new(&settings(), CODES).options(connector.options()).layer(connector.hyper(is_http2))
}

/// The layer of HTTP requests over another client.
pub(crate) fn retrying<S: Clone>(client: S) -> HttpRetryService<S> {
    HttpRetryLayer::new(&settings(), CODES).layer(client)
}

pub(crate) fn http(connector: &Connector, is_http2: bool) -> Calls {
    let client = http_client(connector, is_http2);
    Box::new(move |call| {
        let mut client = client.clone();
        Box::pin(async move {
            match client.call(request::<ReplayBody>(call)).await {
                Ok(response) => body_of(response, call).await,
                Err(error) => End::Failed {
                    message: error.to_string(),
                    says_not_done: error.report().delivery() != Delivery::Unknown,
                },
            }
        })
    })
}

pub(crate) fn plain_http(connector: &Connector, is_http2: bool) -> Calls {
    let client: Hyper<_, http_body_util::Full<Bytes>> =
        Hyper::builder(TokioExecutor::new()).http2_only(is_http2).build(connector.clone());
    Box::new(move |call| {
        let client = client.clone();
        Box::pin(async move {
            match client.request(request(call)).await {
                Ok(response) => body_of(response, call).await,
                Err(error) => End::failed(error),
            }
        })
    })
}

/// The client of REST calls.
pub(crate) fn rest_client<S: RestHttpService>(
    options: OperationOptions,
    http: S,
) -> MessagingClient<RestTransport<S>> {
    let mut stub = MessagingStubSettings::builder();
    stub.get_revision().set_retry_settings(settings()).set_retryable_codes(CODES);
    stub.update_all().set_retry_settings(settings()).set_retryable_codes(CodeSet::EMPTY);
    let settings = MessagingSettings::create(stub.build().unwrap()).with_options(options);
    let options = RestOptions::new().origin("http://server.test".parse().unwrap());
    MessagingClient::rest_with_options(http, settings, options).unwrap()
}

pub(crate) fn rest(connector: &Connector, is_http2: bool) -> Calls {
    let client = rest_client(connector.options(), connector.hyper(is_http2));
    Box::new(move |call| {
        let client = client.clone();
        Box::pin(async move {
            let message_id = call.to_string();
            let replied = if call % 2 == 0 {
                let request =
                    GetRevisionRequest { message_id: message_id.clone(), ..GetRevisionRequest::default() };
                client.get_revision(request).await
            } else {
                client.update_all(Message { message_id: message_id.clone(), ..Message::default() }).await
            };
            End::of(replied, |reply| reply.into_inner().message_id == message_id)
        })
    })
}

/// The bytes of an object.
pub(crate) fn content(call: u32) -> Bytes {
    (0..10_000 + call).map(|place| u8::try_from((place + call) % 251).unwrap()).collect()
}

/// Even calls upload, by one request or a session in turn; odd ones download.
pub(crate) fn transfers(connector: &Connector, is_http2: bool) -> Calls {
    let client = http_client(connector, is_http2);
    Box::new(move |call| {
        let client = client.clone();
        Box::pin(async move {
            let name = call.to_string();
            if call % 2 == 1 {
                let download = Download::of_object("http://server.test", "b", &name);
                return match download.idle_timeout(ms(500)).to_bytes(&client).await {
                    Ok((bytes, _)) if bytes == content(call) => End::Done,
                    Ok(_) => End::Wrong("other bytes".to_owned()),
                    Err(error) => End::failed(error),
                };
            }
            let upload = Upload::to_object("http://server.test", "b", &name, content(call));
            let upload = upload.query("ifGenerationMatch", "0").idle_timeout(ms(500));
            let upload = upload.single_request_below(if call % 4 == 0 { 0 } else { u64::MAX });
            match upload.send(&client).await {
                Ok(uploaded) if uploaded.bytes() == content(call).len() as u64 => End::Done,
                Ok(_) => End::Wrong("another length".to_owned()),
                Err(error) => End::failed(error),
            }
        })
    })
}
