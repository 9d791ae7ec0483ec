//! The descriptors of a generated client.

use crate::rest::error::RestError;
use crate::rest::methods::Methods;
use crate::rest::options::RestOptions;
use crate::rest::transport::RestTransport;
use crate::settings::ClientSettings;
use std::sync::OnceLock;

/// The descriptors of a generated client, for generated code. They are decoded when the first client is made.
#[derive(Debug)]
pub struct RestService {
    default_host: Option<&'static str>,
    descriptors: &'static [u8],
    methods: OnceLock<Result<Methods, RestError>>,
}

impl RestService {
    /// The service at that host, if it is one of Google's, that these are the descriptors of, with all that its messages need.
    #[must_use]
    pub const fn new(default_host: Option<&'static str>, descriptors: &'static [u8]) -> Self {
        Self { default_host, descriptors, methods: OnceLock::new() }
    }

    /// A transport, and the settings that are left over it. If there is something wrong with the descriptors, all calls end with
    /// that.
    pub fn client<S>(&self, http: S, settings: ClientSettings) -> (RestTransport<S>, ClientSettings) {
        let options = RestOptions::new();
        self.of(http, settings, options, self.methods().clone())
    }

    /// As [`client`](Self::client), with options.
    ///
    /// # Errors
    ///
    /// A rule among the options can't be used, or their origin has no scheme or no host.
    pub fn client_with<S>(
        &self,
        http: S,
        settings: ClientSettings,
        options: RestOptions,
    ) -> Result<(RestTransport<S>, ClientSettings), RestError> {
        options.check()?;
        let methods = self.methods().clone()?.with_rules(&options.rules)?;
        Ok(self.of(http, settings, options, Ok(methods)))
    }

    fn of<S>(
        &self,
        http: S,
        settings: ClientSettings,
        mut options: RestOptions,
        methods: Result<Methods, RestError>,
    ) -> (RestTransport<S>, ClientSettings) {
        options.compatibility = options.compatibility.or(settings.options.compatibility);
        // Services that are mixed in have hosts of their own in their protos, where nobody serves them for others.
        let own = || format!("https://{}", self.default_host?).parse().ok();
        options.origin = options.origin.or_else(own);
        options.numeric_enums = options.numeric_enums.or(Some(self.default_host.is_some()));
        let is_hedged = |service: &str, method: &str| {
            let methods = methods.as_ref().ok();
            let method = methods.and_then(|methods| methods.get(&format!("{service}/{method}")));
            method.is_some_and(|method| method.is_hedged_by_verb())
        };
        let settings = settings.hedged_by_verb(is_hedged);
        (RestTransport::of(http, methods, options), settings)
    }

    fn methods(&self) -> &Result<Methods, RestError> {
        self.methods.get_or_init(|| Methods::new(self.descriptors))
    }
}
