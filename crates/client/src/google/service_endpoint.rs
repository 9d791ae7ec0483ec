//! Where a service of Google's is reached.

use http::Uri;
use http::uri::{Authority, Scheme};
use tonic::transport::Endpoint;

/// The universe of Google's public cloud.
const GOOGLE: &str = "googleapis.com";

/// Where a service of Google's is reached: at its default host, or where a program or its operator says.
///
/// `AssetServiceSettings::endpoint()` and its like of other generated clients have the default host of
/// `google.api.default_host`. Whatever takes a tonic [`Endpoint`] takes this too, `AssetServiceClient::connect` for one.
///
/// # Authority
///
/// Requests to an address are sent in the name of its host, in `:authority`, with one exception: the hosts through which
/// other networks reach all services, `private.googleapis.com`, `restricted.googleapis.com` and those of Private Service
/// Connect (`NAME.p.googleapis.com`), want the name of the service, so that it stays the default host. Locational
/// (`LOCATION-SERVICE.googleapis.com`) and regional hosts (`SERVICE.LOCATION.rep.googleapis.com`) have their own names.
///
/// # Examples
///
/// ```
/// use gax_client::google::ServiceEndpoint;
///
/// let endpoint = ServiceEndpoint::new("cloudasset.googleapis.com");
/// assert_eq!(endpoint.uri()?, "https://cloudasset.googleapis.com");
///
/// let private = endpoint.clone().address("https://private.googleapis.com");
/// assert_eq!(private.uri()?, "https://private.googleapis.com");
/// assert_eq!(private.origin()?, "https://cloudasset.googleapis.com");
///
/// let other = endpoint.universe_domain("example-universe.com");
/// assert_eq!(other.uri()?, "https://cloudasset.example-universe.com");
/// # Ok::<(), gax_client::google::EndpointError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ServiceEndpoint {
    default_host: String,
    universe: Option<String>,
    address: Option<String>,
    /// The address and the universe domain of operators, each with the name of its variable.
    variables: [Option<(String, String)>; 2],
}

impl ServiceEndpoint {
    /// The variable that Google's libraries take the universe domain from.
    pub const UNIVERSE_DOMAIN: &str = "GOOGLE_CLOUD_UNIVERSE_DOMAIN";

    /// A service at its default host, such as `cloudasset.googleapis.com`.
    pub fn new(default_host: impl Into<String>) -> Self {
        Self { default_host: default_host.into(), universe: None, address: None, variables: [None, None] }
    }

    gax_text::setters! { self:
        /// The domain that replaces `googleapis.com`. Give the [credentials](gax_driver::credentials::Credentials::universe_domain)
        /// the same: those of one universe are worth nothing in another.
        pub universe_domain(domain: &str) => self.universe = Some(domain.to_owned());

        /// Another address of the service: a URI with a scheme, such as `http://localhost:8080`, or a host, with a port or
        /// without, which is reached over TLS.
        pub address(address: &str) => self.address = Some(address.to_owned());
    }

    /// Lets operators set the address, with the environment variable of that name, and the universe domain, with
    /// [`GOOGLE_CLOUD_UNIVERSE_DOMAIN`](Self::UNIVERSE_DOMAIN). The program's values take precedence over both. A
    /// variable that is empty or not set has no effect.
    pub fn environment(self, address: &str) -> Self {
        self.variables(address, |name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })
    }

    /// As [`environment`](Self::environment), with variables from elsewhere.
    pub fn variables(self, address: &str, variable: impl Fn(&str) -> Option<String>) -> Self {
        let read = |name: &str| Some((name.to_owned(), variable(name).filter(|value| !value.is_empty())?));
        Self { variables: [read(address), read(Self::UNIVERSE_DOMAIN)], ..self }
    }

    /// The universe domain: `googleapis.com`, unless something else is said.
    #[must_use]
    pub fn universe(&self) -> &str {
        let [_, variable] = &self.variables;
        let variable = variable.as_ref().map(|(_, domain)| domain.as_str());
        self.universe.as_deref().or(variable).unwrap_or(GOOGLE)
    }

    /// The address that connections are made to.
    ///
    /// # Errors
    ///
    /// An address or the universe domain can't be used. The error says where it comes from.
    pub fn uri(&self) -> Result<Uri, EndpointError> {
        let [variable, _] = &self.variables;
        match (&self.address, variable) {
            (Some(address), _) => uri_of("the address", address),
            (None, Some((name, address))) => uri_of(name, address),
            (None, None) => uri_of("the default host", &self.host()?),
        }
    }

    /// The origin of requests, whose host and port are their `:authority`.
    ///
    /// # Errors
    ///
    /// See [`uri`](Self::uri).
    pub fn origin(&self) -> Result<Uri, EndpointError> {
        let uri = self.uri()?;
        if !self.is_shared(uri.host().unwrap_or_default()) {
            return Ok(uri);
        }
        let host = self.host()?;
        uri_of("the default host", &format!("{}://{host}", uri.scheme_str().unwrap_or("https")))
    }

    /// Returns whether a host stands for all services.
    fn is_shared(&self, host: &str) -> bool {
        let (host, universe) = (host.to_ascii_lowercase(), self.universe().to_ascii_lowercase());
        let name = host.strip_suffix(universe.as_str()).and_then(|name| name.strip_suffix('.'));
        let is_connect = |name: &str| name.rsplit_once('.').is_some_and(|(_, last)| last == "p");
        name.is_some_and(|name| matches!(name, "private" | "restricted") || is_connect(name))
    }

    /// The default host, in the universe.
    fn host(&self) -> Result<String, EndpointError> {
        let [_, variable] = &self.variables;
        let source = match (&self.universe, variable) {
            (None, Some((name, _))) => name,
            _ => "the universe domain",
        };
        let universe = self.universe();
        let is_domain = universe.contains('.')
            && universe.split('.').all(|label| {
                let is_plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
                is_plain && !label.is_empty()
            });
        if !is_domain {
            return Err(EndpointError::new(
                source,
                universe,
                "is not a domain; write one such as googleapis.com",
            ));
        }
        let (name, port) = self
            .default_host
            .find(':')
            .map_or((&*self.default_host, ""), |colon| self.default_host.split_at(colon));
        let service = name.strip_suffix(GOOGLE).filter(|service| service.ends_with('.'));
        Ok(service.map_or_else(|| self.default_host.clone(), |service| format!("{service}{universe}{port}")))
    }
}

/// The URI of an address, which has a host and no path.
fn uri_of(source: &str, address: &str) -> Result<Uri, EndpointError> {
    let wrong = |problem| EndpointError::new(source, address, problem);
    let whole = if address.contains("://") { address.to_owned() } else { format!("https://{address}") };
    let uri: Uri = whole.parse().map_err(|_| wrong("is not a URI; write one such as https://HOST:PORT"))?;
    let is_http = uri.scheme() == Some(&Scheme::HTTP) || uri.scheme() == Some(&Scheme::HTTPS);
    if !is_http {
        return Err(wrong("has a scheme other than http and https"));
    }
    let authority = uri.authority().map_or("", Authority::as_str);
    if authority.contains('@') || uri.host().is_none_or(str::is_empty) {
        return Err(wrong("must be a host and a port; write one such as https://HOST:PORT"));
    }
    if uri.path() != "/" || uri.query().is_some() {
        return Err(wrong("has a path, which gRPC does not use"));
    }
    Ok(uri)
}

impl TryFrom<ServiceEndpoint> for Endpoint {
    type Error = EndpointError;

    fn try_from(endpoint: ServiceEndpoint) -> Result<Self, EndpointError> {
        let (uri, origin) = (endpoint.uri()?, endpoint.origin()?);
        let is_own = uri == origin;
        let text = uri.to_string();
        let made = Self::new(uri).map_err(|error| EndpointError::of_transport(&text, &error))?;
        Ok(if is_own { made } else { made.origin(origin) })
    }
}

/// Why a [`ServiceEndpoint`](crate::google::ServiceEndpoint) can't be used: what is wrong, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointError {
    message: String,
}

impl EndpointError {
    pub(super) fn new(source: &str, value: &str, problem: &str) -> Self {
        Self { message: format!("{source} is {value:?}, which {problem}") }
    }

    /// tonic does not take the address.
    pub(super) fn of_transport(address: &str, error: &tonic::transport::Error) -> Self {
        Self { message: format!("tonic can't use the address {address}: {error}") }
    }
}

gax_text::error_text! { EndpointError { message }, "{message}" }

/// The options of a service, for generated code.
#[derive(Debug, Clone, Copy)]
pub struct ServiceInfo {
    default_host: &'static str,
    pub(crate) gapic: Option<&'static str>,
}

impl ServiceInfo {
    /// A service at that host, and the version of the package that its client is compiled in.
    #[must_use]
    pub const fn new(default_host: &'static str, gapic: Option<&'static str>) -> Self {
        Self { default_host, gapic }
    }

    /// Its default address.
    pub fn endpoint(&self) -> ServiceEndpoint {
        ServiceEndpoint::new(self.default_host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asset() -> ServiceEndpoint {
        ServiceEndpoint::new("cloudasset.googleapis.com")
    }

    fn shown(endpoint: &ServiceEndpoint) -> String {
        match (endpoint.uri(), endpoint.origin()) {
            (Ok(uri), Ok(origin)) => format!("{uri} as {}", origin.authority().unwrap()),
            (Err(error), _) | (_, Err(error)) => error.to_string(),
        }
    }

    #[test]
    fn the_authority_is_the_host_s_own_unless_it_stands_for_all_services() {
        for (address, expected) in [
            (
                "https://private.googleapis.com",
                "https://private.googleapis.com/ as cloudasset.googleapis.com",
            ),
            (
                "restricted.googleapis.com:443",
                "https://restricted.googleapis.com:443/ as cloudasset.googleapis.com",
            ),
            (
                "https://asset-psc.p.googleapis.com",
                "https://asset-psc.p.googleapis.com/ as cloudasset.googleapis.com",
            ),
            (
                "europe-west1-cloudasset.googleapis.com",
                "https://europe-west1-cloudasset.googleapis.com/ as europe-west1-cloudasset.googleapis.com",
            ),
            (
                "cloudasset.europe-west1.rep.googleapis.com",
                "https://cloudasset.europe-west1.rep.googleapis.com/ as cloudasset.europe-west1.rep.googleapis.com",
            ),
            ("http://localhost:8080", "http://localhost:8080/ as localhost:8080"),
            ("http://[::1]:8080/", "http://[::1]:8080/ as [::1]:8080"),
            ("PRIVATE.googleapis.com", "https://PRIVATE.googleapis.com/ as cloudasset.googleapis.com"),
            ("private.example.com", "https://private.example.com/ as private.example.com"),
            ("notprivate.googleapis.com", "https://notprivate.googleapis.com/ as notprivate.googleapis.com"),
        ] {
            assert_eq!(shown(&asset().address(address)), expected);
        }
    }

    #[test]
    fn a_universe_takes_the_place_of_googleapis_com() {
        let other = asset().universe_domain("u.example");
        assert_eq!(shown(&other), "https://cloudasset.u.example/ as cloudasset.u.example");
        let private = other.clone().address("private.u.example");
        assert_eq!(shown(&private), "https://private.u.example/ as cloudasset.u.example");
        let google = other.address("private.googleapis.com");
        assert_eq!(shown(&google), "https://private.googleapis.com/ as private.googleapis.com");
        let with_port = ServiceEndpoint::new("pubsub.googleapis.com:443").universe_domain("u.example");
        assert_eq!(shown(&with_port), "https://pubsub.u.example:443/ as pubsub.u.example:443");
        let own = ServiceEndpoint::new("library.example.com").universe_domain("u.example");
        assert_eq!(shown(&own), "https://library.example.com/ as library.example.com");
    }

    #[test]
    fn what_the_program_says_goes_over_the_environment_and_that_over_the_default() {
        let variables = |address: &'static str, universe: &'static str| {
            asset().variables("ASSET", move |name| {
                Some(if name == "ASSET" { address } else { universe }.to_owned())
            })
        };
        assert_eq!(shown(&variables("http://l:1", "")), "http://l:1/ as l:1");
        assert_eq!(
            shown(&variables("", "u.example")),
            "https://cloudasset.u.example/ as cloudasset.u.example"
        );
        assert_eq!(variables("", "u.example").universe(), "u.example");
        assert_eq!(
            shown(&variables("", "")),
            "https://cloudasset.googleapis.com/ as cloudasset.googleapis.com"
        );
        let both = variables("http://l:1", "u.example").address("http://m:2").universe_domain("v.example");
        assert_eq!((shown(&both).as_str(), both.universe()), ("http://m:2/ as m:2", "v.example"));
    }

    #[test]
    fn what_is_no_address_is_an_error_that_says_where_it_comes_from() {
        for (endpoint, problem) in [
            (
                asset().address("a b"),
                "the address is \"a b\", which is not a URI; write one such as https://HOST:PORT",
            ),
            (
                asset().address("ftp://a"),
                "the address is \"ftp://a\", which has a scheme other than http and https",
            ),
            (
                asset().address("http://a/b"),
                "the address is \"http://a/b\", which has a path, which gRPC does not use",
            ),
            (
                asset().address("http://me@a"),
                "the address is \"http://me@a\", which must be a host and a port; write one such as https://HOST:PORT",
            ),
            (
                asset().universe_domain("com"),
                "the universe domain is \"com\", which is not a domain; write one such as googleapis.com",
            ),
            (
                asset().variables("ASSET", |name| (name == "ASSET").then(|| "ftp://a".to_owned())),
                "ASSET is \"ftp://a\", which has a scheme other than http and https",
            ),
            (
                asset().variables("ASSET", |name| (name != "ASSET").then(|| "a..b".to_owned())),
                "GOOGLE_CLOUD_UNIVERSE_DOMAIN is \"a..b\", which is not a domain; write one such as googleapis.com",
            ),
        ] {
            assert_eq!(shown(&endpoint), problem);
            assert_eq!(Endpoint::try_from(endpoint).unwrap_err().to_string(), problem);
        }
    }
}
