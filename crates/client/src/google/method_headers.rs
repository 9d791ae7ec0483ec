//! The headers that Google's servers expect of a method's requests.

use crate::google::google_headers::GoogleHeaders;
use crate::google::request_param::{RequestParam, request_params};
use crate::google::service_endpoint::ServiceInfo;
use http::{HeaderName, HeaderValue};
use std::borrow::Cow;
use tonic_gax::headers::{Clash, MethodHeaders};

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
    fixed: MethodHeaders,
    without_request_params: bool,
}

impl ClientHeaders {
    /// Those of a client; `service` is none of a layer's.
    pub(crate) fn new(headers: &GoogleHeaders, service: Option<&ServiceInfo>) -> Self {
        let client =
            headers.api_client.unwrap_or(true).then(|| api_client(service, &headers.tokens)).flatten();
        let fixed = [
            (X_GOOG_API_CLIENT, client, Clash::Joined),
            (X_GOOG_USER_PROJECT, headers.quota_project.clone(), Clash::Callers),
            (X_GOOG_API_KEY, headers.api_key.clone(), Clash::Callers),
        ];
        let fixed = fixed.into_iter().filter_map(|(name, value, clash)| Some((name, value?, clash)));
        let fixed =
            fixed.fold(MethodHeaders::new(), |all, (name, value, clash)| all.fixed(name, value, clash));
        Self { fixed, without_request_params: headers.without_request_params }
    }

    /// Those of a method.
    pub(crate) fn of_method(&self, annotations: Option<&MethodAnnotations>) -> MethodHeaders {
        const ONE_VERSION: &str = "the call sets x-goog-api-version, but the client was generated for one version of the API and \
                                   sends that: remove the header";
        let Some(MethodAnnotations { params, api_version }) = annotations else { return self.fixed.clone() };
        let mut headers = self.fixed.clone();
        let version = api_version.as_ref().and_then(|version| HeaderValue::from_str(version).ok());
        if let Some(version) = version {
            headers = headers.fixed(X_GOOG_API_VERSION, version, Clash::Refused(ONE_VERSION));
        }
        if params.is_empty() || self.without_request_params {
            return headers;
        }
        let params = params.clone();
        headers.by_message(X_GOOG_REQUEST_PARAMS, move |message| request_params(&params, message))
    }
}

/// The annotations of a method, and of its service, that its headers follow from.
#[derive(Debug, Clone, Default)]
pub struct MethodAnnotations {
    pub(crate) params: Cow<'static, [RequestParam]>,
    pub(crate) api_version: Option<Cow<'static, str>>,
}

impl MethodAnnotations {
    /// The parameters that requests are routed by, for generated code.
    #[must_use]
    pub const fn new(params: &'static [RequestParam], api_version: Option<&'static str>) -> Self {
        let api_version = match api_version {
            Some(version) => Some(Cow::Borrowed(version)),
            None => None,
        };
        Self { params: Cow::Borrowed(params), api_version }
    }
}

#[cfg(feature = "descriptors")]
impl MethodAnnotations {
    /// Those that were read when the program ran.
    pub(crate) fn read(params: Vec<RequestParam>, api_version: Option<String>) -> Self {
        Self { params: Cow::Owned(params), api_version: api_version.map(Cow::Owned) }
    }

    /// Returns whether they say anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.params.is_empty() && self.api_version.is_none()
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
