//! The headers of a method's requests in addition to those of gRPC.

use crate::google::google_headers::GoogleHeaders;
use crate::google::method_annotations::MethodAnnotations;
use crate::google::request_param::{RequestParam, request_params};
use crate::google::service_info::ServiceInfo;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::borrow::Cow;
use std::sync::Arc;
use tonic::Status;

pub(crate) const X_GOOG_REQUEST_PARAMS: HeaderName = HeaderName::from_static("x-goog-request-params");
const X_GOOG_API_CLIENT: HeaderName = HeaderName::from_static("x-goog-api-client");
const X_GOOG_API_VERSION: HeaderName = HeaderName::from_static("x-goog-api-version");
const X_GOOG_USER_PROJECT: HeaderName = HeaderName::from_static("x-goog-user-project");
const X_GOOG_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// The version of tonic that this package is written for: tonic does not say its own.
const TONIC: &str = "0.14";

/// The headers that all methods of a client or layer have in addition to those of gRPC.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientHeaders {
    fixed: Arc<[(HeaderName, HeaderValue)]>,
    without_request_params: bool,
}

impl ClientHeaders {
    /// Those of a client; `service` is none of a layer's.
    pub(crate) fn new(headers: &GoogleHeaders, service: Option<&ServiceInfo>) -> Self {
        let client =
            headers.api_client.unwrap_or(true).then(|| api_client(service, &headers.tokens)).flatten();
        let fixed = [
            (X_GOOG_API_CLIENT, client),
            (X_GOOG_USER_PROJECT, headers.quota_project.clone()),
            (X_GOOG_API_KEY, headers.api_key.clone()),
        ];
        let fixed = fixed.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Self { fixed: fixed.collect(), without_request_params: headers.without_request_params }
    }

    /// Those of a method.
    pub(crate) fn of_method(&self, annotations: Option<&MethodAnnotations>) -> MethodHeaders {
        let mut fixed = Arc::clone(&self.fixed);
        let version = annotations.and_then(|annotations| annotations.api_version.as_ref());
        let version = version.and_then(|version| HeaderValue::from_str(version).ok());
        if let Some(version) = version.clone() {
            let own = [(X_GOOG_API_VERSION, version)];
            fixed = self.fixed.iter().cloned().chain(own).collect();
        }
        let params = annotations.filter(|_| !self.without_request_params);
        let params = params.map(|annotations| annotations.params.clone()).unwrap_or_default();
        MethodHeaders { fixed, is_versioned: version.is_some(), params }
    }
}

/// Versions of what a request goes through, as gax writes them.
fn api_client(service: Option<&ServiceInfo>, tokens: &[String]) -> Option<HeaderValue> {
    let rust = option_env!("TONIC_GAX_RUSTC_VERSION").map(|version| format!("gl-rust/{version}"));
    let gax = format!("gax/{}", env!("CARGO_PKG_VERSION"));
    let gapic = service.and_then(|service| service.gapic).map(|version| format!("gapic/{version}"));
    let grpc = format!("grpc/{TONIC}-tonic");
    let all = rust.into_iter().chain([gax]).chain(gapic).chain([grpc]).chain(tokens.iter().cloned());
    HeaderValue::try_from(all.collect::<Vec<_>>().join(" ")).ok()
}

/// The headers of a method's requests in addition to those of gRPC.
#[derive(Debug, Clone, Default)]
pub(crate) struct MethodHeaders {
    fixed: Arc<[(HeaderName, HeaderValue)]>,
    /// Whether one of them says the version of the API, which then is not the caller's to set.
    is_versioned: bool,
    params: Cow<'static, [RequestParam]>,
}

impl MethodHeaders {
    pub(crate) fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.params.is_empty()
    }

    /// How many there are at most.
    pub(crate) fn len(&self) -> usize {
        self.fixed.len() + usize::from(self.has_params())
    }

    pub(crate) fn has_params(&self) -> bool {
        !self.params.is_empty()
    }

    /// Why a call with these headers is not sent.
    pub(crate) fn refusal(&self, headers: &HeaderMap) -> Option<Status> {
        let is_refused = self.is_versioned && headers.contains_key(X_GOOG_API_VERSION);
        is_refused.then(|| {
            Status::invalid_argument(
                "the call sets x-goog-api-version, but the client was generated for one version of the API and sends \
                 that: remove the header",
            )
        })
    }

    /// Puts them into headers that requests are copied from. `x-goog-request-params` is there, with nothing in it: a request
    /// with room for it takes its value without growing.
    pub(crate) fn prepare(&self, headers: &mut HeaderMap) {
        for (name, value) in &*self.fixed {
            headers.insert(name.clone(), value.clone());
        }
        if self.has_params() {
            headers.insert(X_GOOG_REQUEST_PARAMS, HeaderValue::from_static(""));
        }
    }

    /// Adds them to a caller's request, under which they are.
    pub(crate) fn add_to(&self, headers: &mut HeaderMap) {
        for (name, value) in &*self.fixed {
            if *name == X_GOOG_API_CLIENT && headers.contains_key(name) {
                let merged = headers.get_all(name).iter().fold(value.clone(), |all, one| merged(&all, one));
                headers.insert(name.clone(), merged);
            } else if !headers.contains_key(name) {
                headers.insert(name.clone(), value.clone());
            }
        }
    }

    /// Puts a caller's header over those that were prepared.
    pub(crate) fn put_over(&self, headers: &mut HeaderMap, name: &HeaderName, value: &HeaderValue) {
        match headers.get(name) {
            Some(ours) if *name == X_GOOG_API_CLIENT => {
                let both = merged(ours, value);
                headers.insert(name.clone(), both);
            }
            Some(ours) if self.is_own(name, ours) => drop(headers.insert(name.clone(), value.clone())),
            _ => drop(headers.append(name.clone(), value.clone())),
        }
    }

    fn is_own(&self, name: &HeaderName, value: &HeaderValue) -> bool {
        let is_param = *name == X_GOOG_REQUEST_PARAMS && value.is_empty();
        is_param || self.fixed.iter().any(|(own, fixed)| own == name && fixed == value)
    }

    /// Writes the parameters of a message, unless the caller has. `frame` is the message with its prefix; of one that is
    /// compressed nothing can be read.
    pub(crate) fn write_params(&self, headers: &mut HeaderMap, frame: Option<&[u8]>) {
        if headers.get(X_GOOG_REQUEST_PARAMS).is_some_and(|value| !value.is_empty()) {
            return;
        }
        match frame.and_then(first_message).and_then(|message| self.params_of(message)) {
            Some(value) => drop(headers.insert(X_GOOG_REQUEST_PARAMS, value)),
            None => drop(headers.remove(X_GOOG_REQUEST_PARAMS)),
        }
    }

    /// The parameters of a message.
    pub(crate) fn params_of(&self, message: &[u8]) -> Option<HeaderValue> {
        request_params(&self.params, message)
    }
}

/// The first message of some that have their prefixes.
fn first_message(frames: &[u8]) -> Option<&[u8]> {
    let (length, rest) = frames.strip_prefix(&[0])?.split_first_chunk()?;
    rest.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

/// Two headers as one, with a space between them.
fn merged(first: &HeaderValue, second: &HeaderValue) -> HeaderValue {
    let text = [first.as_bytes(), b" ", second.as_bytes()].concat();
    HeaderValue::from_bytes(&text).unwrap_or_else(|_| first.clone())
}
