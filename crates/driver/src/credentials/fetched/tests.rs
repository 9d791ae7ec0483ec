//! Credentials and the requests that they are put on, over a service in memory.

use super::future::{of_request, of_service};
use super::scope::{NoPlaintext, is_loopback};
use super::{AuthHeaders, Credentials, CredentialsLayer, CredentialsService};
use crate::credentials::other_origin::OtherOrigin;
use crate::credentials::{CredentialsError, HeaderError};
use crate::operation::{Clock, RefusedCredentials};
use gax_retry::operation::{AttemptResult, Resend};
use gax_retry::{Code, Delivery};
use http::header::AUTHORIZATION;
use http::{HeaderMap, Request, Response};
use std::error::Error;
use std::future::{Ready, pending, ready};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};
use tower_layer::Layer as _;
use tower_service::Service;

type BoxError = Box<dyn Error + Send + Sync>;

/// Keeps the requests, and replies to all of them with a status and a `grpc-status`.
#[derive(Debug, Clone)]
struct Server {
    requests: Arc<Mutex<Vec<HeaderMap>>>,
    status: u16,
    code: Option<&'static str>,
    is_ready: bool,
}

impl Server {
    fn new(status: u16, code: Option<&'static str>) -> Self {
        Self { requests: Arc::default(), status, code, is_ready: true }
    }

    /// The values of a header in the last request.
    fn last(&self, name: &str) -> Vec<String> {
        values(self.requests.lock().unwrap().last().unwrap(), name)
    }
}

impl Service<Request<()>> for Server {
    type Response = Response<()>;
    type Error = BoxError;
    type Future = Ready<Result<Response<()>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        if self.is_ready { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        self.requests.lock().unwrap().push(request.into_parts().0.headers);
        if self.status == 0 {
            let inner = CredentialsError::new(Code::Unavailable, "the way there has none");
            return ready(Err(Broken(inner).into()));
        }
        let mut response = Response::builder().status(self.status);
        if let Some(code) = self.code {
            response = response.header("grpc-status", code);
        }
        ready(Ok(response.body(()).unwrap()))
    }
}

/// An error of a service below, for which there were no credentials.
#[derive(Debug)]
struct Broken(CredentialsError);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broken")
    }
}

impl Error for Broken {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

fn values(headers: &HeaderMap, name: &str) -> Vec<String> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap().to_owned()).collect()
}

/// A request to `storage.test` over TLS.
fn request() -> Request<()> {
    Request::get("https://storage.test/o").body(()).unwrap()
}

async fn call<S: Service<Request<()>>>(
    service: &mut S,
    request: Request<()>,
) -> Result<S::Response, S::Error> {
    std::future::poll_fn(|cx| service.poll_ready(cx)).await?;
    service.call(request).await
}

/// Credentials whose token counts how often they were fetched, with that lifetime.
fn counting(lifetime: u64) -> Credentials {
    let fetches = AtomicU32::new(0);
    Credentials::new(move || {
        let number = 1 + fetches.fetch_add(1, Ordering::Relaxed);
        async move { Ok(AuthHeaders::bearer(&number.to_string())?.expires_in(Duration::from_secs(lifetime))) }
    })
}

/// The code and the reason of an error that a caller got.
fn cause(error: &BoxError) -> (Code, String) {
    let error: &(dyn Error + 'static) = &**error;
    let links = std::iter::successors(Some(error), |link| (*link).source());
    let mut found = links.filter_map(|link| link.downcast_ref::<CredentialsError>());
    let found = found.next().expect("it is about credentials");
    (found.code(), found.reason().to_string())
}

#[tokio::test]
async fn a_secret_goes_to_the_hosts_that_it_is_for_and_over_tls_alone() {
    type Settings<'a> = &'a dyn Fn(Credentials) -> Credentials;
    let plain = |credentials: Credentials| credentials.allow_plaintext();
    let of = |host: &'static str| move |credentials: Credentials| credentials.for_hosts([host]);
    let cases: [(&str, bool, Settings<'_>, &str); 12] = [
        ("https://storage.test/o", false, &|credentials| credentials, "sent"),
        ("http://storage.test/o", false, &|credentials| credentials, "refused"),
        ("http://storage.test/o", false, &plain, "sent, also in plain text"),
        ("http://localhost/o", false, &|credentials| credentials, "sent"),
        ("http://LOCALHOST/o", false, &|credentials| credentials, "sent"),
        ("http://127.0.0.1:80/o", false, &|credentials| credentials, "sent"),
        ("http://[::1]:80/o", false, &|credentials| credentials, "sent"),
        ("http://10.0.0.1/o", false, &|credentials| credentials, "refused"),
        ("https://storage.test/o", true, &|credentials| credentials, "not sent"),
        ("https://storage.test/o", true, &of("Storage.test"), "sent"),
        ("https://storage.test/o", true, &of("test"), "not sent"),
        ("http://storage.test/o", true, &of("storage.test"), "refused"),
    ];
    for (uri, is_other, settings, expected) in cases {
        let server = Server::new(200, None);
        let mut service = CredentialsLayer::new(settings(counting(60))).layer(server.clone());
        let mut request = Request::get(uri).body(()).unwrap();
        if is_other {
            request.extensions_mut().insert(OtherOrigin);
        }
        let seen = match call(&mut service, request).await {
            Ok(_) if server.last("authorization").is_empty() => "not sent",
            Ok(_) if is_allowed(&settings(counting(60)), uri) => "sent, also in plain text",
            Ok(_) => "sent",
            Err(error) => {
                let (code, reason) = cause(&error);
                assert_eq!(code, Code::FailedPrecondition);
                assert!(reason.starts_with("credentials would be sent to "), "{reason}");
                "refused"
            }
        };
        assert_eq!(seen, expected, "{uri}");
    }
    assert!(is_loopback("127.8.8.8") && !is_loopback("localhost.test") && !is_loopback("0.0.0.0"));
}

/// Returns whether a connection may carry the request in plain text, for all that its credentials say.
fn is_allowed(credentials: &Credentials, uri: &str) -> bool {
    let mut request = Request::get(uri).body(()).unwrap();
    let _credentials = credentials.look(&mut request).ok();
    request.extensions().get::<NoPlaintext>().is_none()
}

#[test]
fn headers_that_can_be_sent() {
    let refused = |error: HeaderError| error.to_string();
    let rest = " is empty or has characters that a header may not have; use visible ASCII";
    assert_eq!(refused(AuthHeaders::bearer("").unwrap_err()), format!("the token{rest}"));
    assert_eq!(refused(AuthHeaders::bearer("a\n").unwrap_err()), format!("the token{rest}"));
    assert_eq!(
        refused(AuthHeaders::new().header("a b", "c").unwrap_err()),
        format!("the name of a header{rest}")
    );
    assert_eq!(
        refused(AuthHeaders::new().header("a", "\n").unwrap_err()),
        format!("the value of a header{rest}")
    );
    let error = CredentialsError::from(AuthHeaders::bearer("").unwrap_err());
    assert_eq!(
        (error.code(), error.to_string(), error.source().unwrap().to_string()),
        (
            Code::Unauthenticated,
            "there are no credentials for the request".to_owned(),
            format!("the token{rest}")
        )
    );
}

#[test]
fn headers_are_added_where_the_caller_has_none_and_may_have_several_values() {
    let several =
        AuthHeaders::bearer("t").unwrap().header("x-key", "a").unwrap().header("x-key", "b").unwrap();
    let mut headers = HeaderMap::new();
    assert!(several.add_to(&mut headers));
    assert_eq!(
        (values(&headers, "authorization"), values(&headers, "x-key")),
        (vec!["Bearer t".to_owned()], vec!["a".to_owned(), "b".to_owned()])
    );
    assert!(headers.values().all(http::HeaderValue::is_sensitive));
    assert!(!several.add_to(&mut headers), "all of them are there");
    assert_eq!(values(&headers, "x-key"), ["a", "b"]);
    // With a token of the caller's own, a refusal is not about ours.
    let mut headers = HeaderMap::from_iter([(AUTHORIZATION, http::HeaderValue::from_static("own"))]);
    assert!(!several.add_to(&mut headers));
    assert_eq!(
        (values(&headers, "authorization"), values(&headers, "x-key")),
        (vec!["own".to_owned()], vec!["a".to_owned(), "b".to_owned()])
    );
    let mut headers = HeaderMap::from_iter([(
        http::HeaderName::from_static("x-key"),
        http::HeaderValue::from_static("own"),
    )]);
    assert!(several.add_to(&mut headers));
    assert_eq!(values(&headers, "x-key"), ["own"]);
    assert!(!AuthHeaders::new().add_to(&mut HeaderMap::new()));
    assert_eq!(format!("{several:?}"), r#"AuthHeaders(["authorization", "x-key", "x-key"])"#);
}

#[tokio::test]
async fn a_response_says_which_credentials_the_server_refused() {
    for (status, code, delivery) in [
        (200, None, None),
        (401, None, Some(Delivery::NotProcessed)),
        (403, None, None),
        (407, None, None),
        (200, Some("16"), Some(Delivery::Unknown)),
        (200, Some("0"), None),
        (401, Some("7"), None),
    ] {
        let is_refusal = delivery.is_some();
        let server = Server::new(status, code);
        let mut service = CredentialsService::new(server.clone(), counting(3600));
        let refused = |mut response: Response<()>| RefusedCredentials::take(response.extensions_mut());
        let first = refused(call(&mut service, request()).await.unwrap());
        assert_eq!(first.is_some(), is_refusal, "{status}, {code:?}");
        let token = |number: u32| vec![format!("Bearer {number}")];
        assert_eq!(server.last("authorization"), token(1));
        // They are fetched anew, once.
        for _ in 0..2 {
            let failed = AttemptResult::failed(Code::Unauthenticated);
            let result = first.map(|refused| refused.add_to(failed));
            assert_eq!(result.map(AttemptResult::delivery), delivery);
            assert!(result.is_none_or(|result| result.resend() == Resend::Renewed));
        }
        let _response = call(&mut service, request()).await.unwrap();
        assert_eq!(server.last("authorization"), token(1 + u32::from(is_refusal)));
        // A refusal of the caller's own token is not about these.
        let mut own = request();
        own.headers_mut().insert(AUTHORIZATION, "own".parse().unwrap());
        assert!(refused(call(&mut service, own).await.unwrap()).is_none());
        assert_eq!(server.last("authorization"), ["own"]);
    }
}

#[tokio::test(start_paused = true)]
async fn credentials_are_fetched_once_for_all_that_wait_and_anew_before_they_expire() {
    let server = Server::new(200, None);
    let mut service = CredentialsService::new(server.clone(), counting(1000));
    let (mut other, mut third) = (service.clone(), service.clone());
    let (one, two) = tokio::join!(call(&mut service, request()), call(&mut other, request()));
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(server.last("authorization"), ["Bearer 1"]);
    // From then on the next ones are fetched meanwhile.
    for (seconds, number) in [(899, 1), (2, 1), (1, 2), (1001, 3)] {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        call(&mut third, request()).await.unwrap();
        assert_eq!(server.last("authorization"), [format!("Bearer {number}")], "{seconds}");
    }
    let mut busy = CredentialsService::new(Server { is_ready: false, ..server }, counting(1000));
    assert!(busy.poll_ready(&mut Context::from_waker(std::task::Waker::noop())).is_pending());
}

#[tokio::test(start_paused = true)]
async fn sources_that_give_none() {
    let failing = Credentials::new(|| async { Err(CredentialsError::new(Code::Internal, "no key")) });
    let panicking = Credentials::new(|| async { panic!("a bug") });
    let hanging = Credentials::new(pending);
    let foreign =
        Credentials::new(|| ready(Ok(AuthHeaders::bearer("t").unwrap().universe_domain("there.test"))));
    let start = Clock::start();
    for (credentials, code, reason) in [
        (failing, Code::Internal, "no key"),
        (panicking.clone(), Code::Unauthenticated, "the source of the credentials has panicked"),
        // Also if nobody knows yet how it ends.
        (panicking, Code::Unauthenticated, "the source of the credentials has panicked"),
        (hanging, Code::Unavailable, "fetching the credentials took longer than 60s"),
        (
            foreign.clone().universe_domain("here.test"),
            Code::FailedPrecondition,
            "the credentials are for the universe \"there.test\", but the client is for \"here.test\": \
             use credentials for that universe",
        ),
    ] {
        let server = Server::new(200, None);
        let error =
            call(&mut CredentialsService::new(server.clone(), credentials), request()).await.unwrap_err();
        assert_eq!(cause(&error), (code, reason.to_owned()));
        assert!(server.requests.lock().unwrap().is_empty(), "the request was sent");
    }
    assert_eq!(start.elapsed(), Duration::from_secs(60));
    for credentials in [foreign.clone(), foreign.universe_domain("there.test")] {
        assert!(
            call(&mut CredentialsService::new(Server::new(200, None), credentials), request()).await.is_ok()
        );
    }
}

#[test]
fn credentials_need_a_runtime() {
    let mut service = CredentialsService::new(Server::new(200, None), counting(60));
    let mut calling = std::pin::pin!(service.call(request()));
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let Poll::Ready(Err(error)) = calling.as_mut().poll(&mut cx) else { panic!("there is no runtime") };
    assert_eq!(cause(&error).1, "credentials are fetched in a tokio runtime, and there is none");
    assert!(calling.as_mut().poll(&mut cx).is_pending(), "it has ended");
}

#[tokio::test]
async fn an_error_of_credentials_below_is_reported_as_one() {
    let error = call(&mut CredentialsService::new(Server::new(0, None), counting(60)), request()).await;
    let error = error.unwrap_err();
    assert_eq!(cause(&error), (Code::Unavailable, "the way there has none".to_owned()));
    assert!(error.downcast_ref::<Broken>().is_none());
    let other = of_service(io::Error::other("broken").into());
    assert_eq!(other.to_string(), "broken");
    #[cfg(feature = "tonic")]
    {
        use tonic::{Code as Wire, Status};
        let status = error.downcast_ref::<Status>().unwrap();
        assert_eq!((status.code(), status.message()), (Wire::Unavailable, "the way there has none"));
        let mut said = Status::with_details(Wire::PermissionDenied, "no", b"d".to_vec().into());
        said.metadata_mut().insert("x-a", "1".parse().unwrap());
        let error = CredentialsError::from(said);
        assert_eq!(error.code(), Code::PermissionDenied);
        let reported = of_request(error);
        let reported = reported.downcast_ref::<Status>().unwrap();
        assert_eq!(
            (reported.code(), reported.message(), reported.details()),
            (Wire::PermissionDenied, "no", &b"d"[..])
        );
        assert_eq!(reported.metadata().get("x-a").unwrap(), "1");
    }
}
