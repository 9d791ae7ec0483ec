//! A method of a generated client.

use crate::grpc::{ExampleRequest, MethodConfig};
use crate::settings::Codec;
use gax_retry::MethodKind;
use http::Uri;
use http::uri::PathAndQuery;
use std::sync::Arc;

/// A method as all its calls share it. Resolved once, when the client is made.
#[derive(Debug, Clone)]
pub(super) struct Method {
    pub(super) path: PathAndQuery,
    pub(super) kind: MethodKind,
    /// With the request that all to the method are like.
    pub(super) config: Arc<MethodConfig>,
}

impl Method {
    /// Whether its streams resume, or their callers are watched.
    pub(super) fn streams_by_itself(&self) -> bool {
        !self.config.stream.is_empty()
    }

    /// Puts the method at an origin.
    pub(super) fn set_origin(&mut self, origin: &Uri) {
        let mut parts = origin.clone().into_parts();
        let prefix = origin.path().trim_end_matches('/');
        let path =
            if prefix.is_empty() { Ok(self.path.clone()) } else { format!("{prefix}{}", self.path).parse() };
        parts.path_and_query = path.ok();
        let uri = Uri::from_parts(parts).unwrap_or_else(|_| origin.clone());
        let description = self.config.example().and_then(|example| example.description.clone());
        self.config = Arc::new(MethodConfig::clone(&self.config).like(ExampleRequest { uri, description }));
    }

    /// Changes how messages are written and read.
    pub(super) fn set_codec(&mut self, change: impl FnOnce(&mut Codec)) {
        let mut codec = self.config.codec.clone();
        change(&mut codec);
        self.config = Arc::new(MethodConfig::clone(&self.config).decoding(codec));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::SharedState;
    use crate::settings::CallSettings;
    use gax_retry::{CodeSet, Compatibility, RetrySettings};

    fn method() -> Method {
        let settings = CallSettings::new(RetrySettings::default(), CodeSet::EMPTY);
        let shared = SharedState::by(Compatibility::Documented);
        let path = PathAndQuery::from_static("/pkg.Service/Method");
        let config = Arc::new(MethodConfig::new(&settings, MethodKind::Unary, shared));
        Method { path, kind: MethodKind::Unary, config }
    }

    fn uri(origin: &'static str) -> String {
        let mut method = method();
        method.set_origin(&Uri::from_static(origin));
        method.config.example().unwrap().uri.to_string()
    }

    #[test]
    fn an_origin_may_have_a_path() {
        assert_eq!(uri("http://host:1"), "http://host:1/pkg.Service/Method");
        assert_eq!(uri("http://host/prefix"), "http://host/prefix/pkg.Service/Method");
        assert_eq!(uri("http://host/prefix/"), "http://host/prefix/pkg.Service/Method");
    }

    #[test]
    fn as_much_is_held_back_as_may_be_read() {
        let mut method = method();
        method.set_codec(|codec| codec.max_decoding = Some(10));
        assert_eq!(method.config.max_response_buffer, 15);
    }
}
