//! A method of a generated client.

use crate::settings::Codec;
use gax_retry::MethodKind;
use gax_streams::resumption::Resumption;
use http::Uri;
use http::uri::PathAndQuery;
use std::sync::Arc;
use tonic_gax::__private::{ExampleRequest, MethodConfig};
use tonic_gax::note;

/// A method as all its calls share it. Resolved once, when the client is made.
#[derive(Debug, Clone)]
pub(super) struct Method {
    pub(super) path: PathAndQuery,
    pub(super) kind: MethodKind,
    /// With the request that all to the method are like.
    pub(super) config: Arc<MethodConfig>,
    /// How messages are written and read.
    pub(super) codec: Arc<Codec>,
    pub(super) resumption: Option<Resumption>,
}

impl Method {
    /// Returns whether its streams resume, or their callers are watched.
    pub(super) fn streams_by_itself(&self) -> bool {
        self.resumption.is_some() || !self.config.stream.is_empty()
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
        let mut codec = Codec::clone(&self.codec);
        change(&mut codec);
        self.config = Arc::new(codec.buffering(MethodConfig::clone(&self.config)));
        self.codec = Arc::new(codec);
    }
}

impl Codec {
    /// The config for a client that decodes messages itself: one that is longer than its longest response could not be decoded anyway.
    pub(super) fn buffering(&self, config: MethodConfig) -> MethodConfig {
        config.buffering(self.longest_response(), note::MESSAGE_ABOVE_DECODING_LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::{Compatibility, MethodSettings};
    use tonic_gax::__private::SharedState;

    fn method() -> Method {
        let shared = Arc::new(SharedState::new(Compatibility::Documented));
        let path = PathAndQuery::from_static("/pkg.Service/Method");
        let config = Arc::new(MethodConfig::new(&MethodSettings::default(), MethodKind::Unary, shared));
        Method { path, kind: MethodKind::Unary, config, codec: Arc::default(), resumption: None }
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
