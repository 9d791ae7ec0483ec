//! The descriptors of generated clients.

use crate::methods::Methods;
use crate::options::RestOptions;
use crate::problem::RestError;
use crate::transport::RestTransport;
use gax_client::__private::config_of;
use gax_client::ClientSettings;
use gax_driver::__private::Locked;

/// The descriptors of a generated client's build, for generated code.
#[derive(Debug)]
pub struct RestService {
    default_host: Option<&'static str>,
    descriptors: &'static [u8],
}

type Build = (&'static [u8], Result<Methods, RestError>);

/// The RPCs of each build, decoded when the first client of the build was made. All its clients share them.
static BUILDS: Locked<Vec<Build>> = Locked::new(Vec::new());

impl RestService {
    /// A service at that host, if it is one of Google's, and the descriptors of its build.
    #[must_use]
    pub const fn new(default_host: Option<&'static str>, descriptors: &'static [u8]) -> Self {
        Self { default_host, descriptors }
    }

    /// A transport, and the settings that are left over it. If there is something wrong with the descriptors, all calls end with
    /// that.
    pub fn client<H, S>(
        &self,
        http: H,
        settings: ClientSettings<S>,
    ) -> (RestTransport<H>, ClientSettings<S>) {
        let options = RestOptions::new();
        self.of(http, settings, options, self.methods())
    }

    /// As [`client`](Self::client), with options.
    ///
    /// # Errors
    ///
    /// A rule or descriptors among the options can't be used, or their origin has no scheme or no host.
    pub fn client_with<H, S>(
        &self,
        http: H,
        settings: ClientSettings<S>,
        options: RestOptions,
    ) -> Result<(RestTransport<H>, ClientSettings<S>), RestError> {
        options.check()?;
        let methods = if options.descriptors.is_empty() {
            self.methods()
        } else {
            Methods::new(self.descriptors, &options.descriptors)
        };
        let methods = methods?.with_rules(&options.rules)?;
        Ok(self.of(http, settings, options, Ok(methods)))
    }

    fn of<H, S>(
        &self,
        http: H,
        mut settings: ClientSettings<S>,
        mut options: RestOptions,
        methods: Result<Methods, RestError>,
    ) -> (RestTransport<H>, ClientSettings<S>) {
        let config = config_of(&mut settings);
        options.compatibility = options.compatibility.or(config.compatibility());
        // Services that are mixed in have their own hosts in their protos, if no other service mixes them in.
        let own = || format!("https://{}", self.default_host?).parse().ok();
        options.origin = options.origin.or_else(own);
        options.numeric_enums = options.numeric_enums.or(Some(self.default_host.is_some()));
        let is_hedged = |service: &str, method: &str| {
            let methods = methods.as_ref().ok();
            let method = methods.and_then(|methods| methods.get(&format!("{service}/{method}")));
            method.is_some_and(|method| method.is_hedged_by_verb())
        };
        // RPCs that are no reads over HTTP are not hedged, unless the hedging is for those that are not idempotent too.
        config.hedge_by_verb(is_hedged);
        (RestTransport::of(http, methods, options), settings)
    }

    fn methods(&self) -> Result<Methods, RestError> {
        let mut builds = BUILDS.lock();
        if let Some((_, methods)) = builds.iter().find(|(descriptors, _)| *descriptors == self.descriptors) {
            return methods.clone();
        }
        let methods = Methods::new(self.descriptors, &[]);
        builds.push((self.descriptors, methods.clone()));
        methods
    }
}
