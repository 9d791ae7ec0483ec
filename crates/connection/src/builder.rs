//! Connections, configured.

use crate::endpoint::Http2Connector;
use crate::error::ConnectionError;
#[cfg(feature = "_tls")]
use crate::io::{ClientTls, Encryption};
use crate::io::{Custom, Dialer, ProxyChoice, SocketOptions, Tunnel, custom};
use crate::pool::Pool;
use crate::resolver::{Address, AddressList, Dns, Place, Resolver, Target, without_user_info};
use crate::service::Connection;
use crate::settings::{ChosenSettings, ConnectBackoff, Ejection, Http2, Picker, PoolSettings};
use gax_driver::__private::{Observers, PanicGuard};
use gax_driver::credentials::Credentials;
use gax_driver::observe::OperationObserver;
use gax_wire::__private::KnownProblem;
use gax_wire::__private::dead_peers::{KEEPALIVE, KEEPALIVE_INTERVAL, KEEPALIVE_RETRIES, USER_TIMEOUT};
use http::HeaderValue;
use http::uri::{Authority, Scheme};
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// The value of `user-agent`, behind what a program sets.
const USER_AGENT: &str = concat!("tonic-gax/", env!("CARGO_PKG_VERSION"));

impl Connection {
    /// A connection to that target, to be configured: `https://host:port`, `http://host:port`, `dns:///host:port`,
    /// `ipv4:address:port,..`, `ipv6:[address]:port,..` or `unix:path`, as gRPC
    /// [spells them](https://github.com/grpc/grpc/blob/master/doc/naming.md). `dns`, `ipv4`, `ipv6` and `unix` are without TLS
    /// unless it is [configured](ConnectionBuilder::tls). A port that isn't named is 443, of `http` 80. Port 443 without TLS is an error,
    /// unless `http` is written, or connections are made by a resolver or connector of your own.
    pub fn to(target: impl Into<String>) -> ConnectionBuilder {
        ConnectionBuilder::new(target.into())
    }
}

/// Configures a [`Connection`]. Each setting says its default.
#[must_use = "it connects to nothing until it is asked to"]
pub struct ConnectionBuilder {
    target: String,
    authority: Option<String>,
    user_agent: Option<String>,
    connect_timeout: Duration,
    chosen: ChosenSettings,
    sockets: SocketOptions,
    proxy: ProxyChoice,
    #[cfg(feature = "_tls")]
    tls: Option<ClientTls>,
    custom: Option<Custom>,
    resolver: Option<Box<dyn Resolver>>,
    observers: Observers,
}

impl ConnectionBuilder {
    fn new(target: String) -> Self {
        Self {
            target,
            authority: None,
            user_agent: None,
            connect_timeout: Duration::from_secs(20),
            chosen: ChosenSettings::default(),
            sockets: SocketOptions {
                user_timeout: Some(USER_TIMEOUT),
                keepalive: Some(KEEPALIVE),
                keepalive_interval: Some(KEEPALIVE_INTERVAL),
                keepalive_retries: Some(KEEPALIVE_RETRIES),
                nodelay: true,
                local_address: None,
            },
            proxy: ProxyChoice::Environment,
            #[cfg(feature = "_tls")]
            tls: None,
            custom: None,
            resolver: None,
            observers: Observers::default(),
        }
    }

    gax_text::setters! { self:
        /// The time limit for connecting, from TCP and TLS until the server's HTTP/2 SETTINGS have arrived. Resolving names is not
        /// included. Of an endpoint's addresses, the next one is tried after 250 ms or as soon as one fails, up to three at a time; the
        /// first whose SETTINGS arrive is used (RFC 8305). Default: 20 s.
        pub connect_timeout(timeout: Duration) => self.connect_timeout = timeout;

        /// The back-off between attempts to connect. Default: 50 ms, 100 ms, then gRPC's.
        pub connect_backoff(backoff: ConnectBackoff) => self.chosen.backoff = backoff;

        /// Sets whether calls wait if no connection can be made, until one can or their time is up. Otherwise they fail with
        /// `UNAVAILABLE` until one is made. Default: no. A table's `waitForReady` sets it for its methods.
        ///
        /// In any case calls wait while the first connection is being made. Attempts of a layer or generated client that retries `UNAVAILABLE`
        /// wait for the endpoint's next attempt to connect, if it begins before the total timeout; their RPC timeouts start afterwards. By
        /// gRPC's rules (`Compatibility::Grpc`), only retries wait, and only if it begins before their RPC timeout ends.
        pub wait_for_ready(waits: bool) => self.chosen.wait_for_ready = waits;

        /// Which endpoint a call uses. Default: the first that accepts a connection.
        pub picker(picker: Picker) => self.chosen.picker = picker;

        /// Has calls avoid endpoints that they fail at, for a while. Default: no.
        pub eject(ejection: Ejection) => self.chosen.ejection = Some(ejection);

        /// Sends calls only to endpoints whose server says that this service is up, by the method `Watch` of `grpc.health.v1.Health`;
        /// an empty name asks for the whole server. A server that doesn't know the method is taken for healthy. The check takes a stream of
        /// the endpoint's first connection. If it ends after a response, it is repeated, and calls wait for that for a second at most. Not
        /// asked, unless set.
        pub health_check(service: impl Into<String>) => self.chosen.health = Some(service.into());

        /// Sends these credentials with the [health check](Self::health_check). A check that is refused is repeated after the
        /// [back-off](Self::connect_backoff). Default: none.
        pub health_credentials(credentials: Credentials) => self.chosen.health_credentials = Some(credentials);

        /// Finds the addresses of endpoints. The system's resolver (`getaddrinfo`), unless set: it knows `/etc/hosts`, search domains
        /// and a VPN's names. The target then gives the scheme and the `:authority` alone.
        pub resolver(resolver: impl Resolver) => self.resolver = Some(Box::new(resolver));

        /// After how much time the resolver is asked again although no connection has failed; `None`: never. Default: 60 s.
        pub resolve_every(interval: impl Into<Option<Duration>>) => self.chosen.resolve_every = interval.into();

        /// After how much time a connection is exchanged for a new one, give or take a tenth: behind balancers that spread connections,
        /// not calls. Calls on the old one continue. Default: never.
        pub max_age(age: impl Into<Option<Duration>>) => self.chosen.max_age = age.into();

        /// How many connections an endpoint may have at most. One more is made when calls wait because all streams of those that it has
        /// are taken (the server's `MAX_CONCURRENT_STREAMS`; gRFC A105). Calls wait in order, for whichever stream is free first; those whose
        /// requests would take more than 64 MiB together fail with `UNAVAILABLE`. 4, unless set; 0 is treated as 1.
        pub max_connections(connections: usize) => self.chosen.max_connections = connections.max(1);

        /// After how many attempts in a row that used up their RPC timeouts, without a byte from the server since before the first of
        /// them, its next call has a new connection; `None`: never. Default: 2. A server that is only slow costs one more connection
        /// by that, which is made again no sooner than the [back-off](Self::connect_backoff) allows.
        pub silent_attempts(attempts: impl Into<Option<u32>>) =>
            self.chosen.silent_attempts = attempts.into().map(|attempts| attempts.max(1));

        /// For how long sent bytes may stay without an acknowledgement until the system ends the connection (`TCP_USER_TIMEOUT`, on
        /// Linux and Android); `None`: the system's own time, of some 15 minutes. Default: 20 s.
        ///
        /// The system then also closes a connection to a server that is alive but reads nothing for that long while its buffers are full. Set
        /// a longer time for a server that pauses longer than 20 s while you send to it (backpressure, a debugger, a suspended machine).
        pub tcp_user_timeout(timeout: impl Into<Option<Duration>>) =>
            self.sockets.user_timeout = timeout.into();

        /// The idle time after which the system probes the other end (TCP keep-alive); `None`: never. Default: 60 s.
        pub tcp_keepalive(time: impl Into<Option<Duration>>) => self.sockets.keepalive = time.into();

        /// How long it waits until it asks again; `None`: the system's own time. Default: 10 s.
        pub tcp_keepalive_interval(interval: impl Into<Option<Duration>>) =>
            self.sockets.keepalive_interval = interval.into();

        /// How often it asks until it ends the connection; `None`: as often as the system does. Default: 3 times.
        pub tcp_keepalive_retries(retries: impl Into<Option<u32>>) =>
            self.sockets.keepalive_retries = retries.into();

        /// Sets whether small packets are sent immediately (`TCP_NODELAY`). Default: yes.
        pub tcp_nodelay(is_on: bool) => self.sockets.nodelay = is_on;

        /// The address that connections are made from. Default: the system's choice.
        pub local_address(address: impl Into<Option<IpAddr>>) => self.sockets.local_address = address.into();
    }

    /// Makes connections through a proxy, by HTTP's method `CONNECT`: `http://host:port` or `http://user:password@host:port`; `None`:
    /// no proxy, whatever the environment says.
    ///
    /// Default: the proxy that the environment names, as for
    /// [gRPC](https://github.com/grpc/grpc/blob/master/doc/environment_variables.md): the first of `grpc_proxy`, `https_proxy`,
    /// `HTTPS_PROXY` and `http_proxy` that is set, for targets with and without TLS, but not for hosts in `no_grpc_proxy`, `no_proxy` or
    /// `NO_PROXY` (names including subdomains, addresses, networks such as `10.0.0.0/8`, or `*`), and not for `localhost` and other
    /// loopback addresses.
    ///
    /// The proxy resolves the target's name, and reports have the proxy's address as the endpoint. Addresses of a target (`ipv4:`)
    /// or of a [resolver](Self::resolver) are passed to the proxy one by one.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_connection::Connection;
    ///
    /// let through = Connection::to("https://pubsub.googleapis.com").proxy("http://user:password@proxy.internal:3128");
    /// let direct = Connection::to("https://pubsub.googleapis.com").proxy(None);
    /// # drop((through, direct));
    /// ```
    pub fn proxy<'a>(self, uri: impl Into<Option<&'a str>>) -> Self {
        let proxy = uri.into().map_or(ProxyChoice::None, |uri| ProxyChoice::Of(uri.to_owned()));
        Self { proxy, ..self }
    }

    gax_text::setters! { self:
        /// The settings of HTTP/2.
        pub http2(http2: Http2) => self.chosen.http2 = http2;

        /// The settings of TLS. For `https` those of the features, unless set; for other targets none.
        #[cfg(feature = "_tls")]
        pub tls(tls: ClientTls) => self.tls = Some(tls);

        /// The `:authority` of requests. Default: the target's host and port.
        pub authority(authority: impl Into<String>) => self.authority = Some(authority.into());

        /// The program, for the header `user-agent` of requests that have none: our own name follows it.
        pub user_agent(program: impl Into<String>) => self.user_agent = Some(program.into());
    }

    /// Makes connections by that function instead of sockets: over memory in tests, through a proxy of another kind. The options of
    /// sockets and the [proxy](Self::proxy) don't apply; TLS is put on top of it.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_connection::Connection;
    ///
    /// let connection = Connection::to("http://in.memory").resolver(gax_connection::AddressList::new([]));
    /// let connection = connection.connector(|address| async move {
    ///     let (client, server) = tokio::io::duplex(1 << 16);
    ///     drop((address, server));
    ///     Ok(client)
    /// });
    /// # drop(connection);
    /// ```
    pub fn connector<F, T>(self, connect: impl Fn(Address) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Self { custom: Some(custom(connect)), ..self }
    }

    /// Notifies an observer of what happens to connections. Those of operations are installed on the client or the layer.
    pub fn observer(mut self, observer: Arc<dyn OperationObserver>) -> Self {
        self.observers.push(observer);
        self
    }

    /// A connection that is established by the first call.
    ///
    /// # Errors
    ///
    /// The target, the authority, the user agent, the proxy, or the settings of TLS or HTTP/2 can't be used. The error says why.
    pub fn connect_lazy(self) -> Result<Connection, ConnectionError> {
        self.pool().map(Connection::new)
    }

    /// Connects now.
    ///
    /// # Errors
    ///
    /// As for [`connect_lazy`](Self::connect_lazy), or no connection can be made. With [`wait_for_ready`](Self::wait_for_ready),
    /// it keeps trying.
    ///
    /// # Cancel safety
    ///
    /// Dropping it leaves nothing behind.
    pub async fn connect(self) -> Result<Connection, ConnectionError> {
        let connection = self.connect_lazy()?;
        connection.ready().await?;
        Ok(connection)
    }

    fn pool(self) -> Result<Pool, ConnectionError> {
        let target: Target = self.target.parse().map_err(ConnectionError::unusable)?;
        let authority = self.authority.as_deref().unwrap_or(&target.authority);
        let authority: Authority =
            authority.parse().ok().filter(|_| !authority.contains('@')).ok_or_else(|| {
                let authority = without_user_info(authority);
                ConnectionError::unusable(format!(
                    "{authority:?} is not an authority: a host, or a host and a port"
                ))
            })?;
        self.chosen.http2.check().map_err(ConnectionError::unusable)?;
        let user_agent = match &self.user_agent {
            None => HeaderValue::from_static(USER_AGENT),
            Some(program) => HeaderValue::from_str(&format!("{program} {USER_AGENT}")).map_err(|_| {
                ConnectionError::unusable(format!("the user agent {program:?} can't be a header's value"))
            })?,
        };
        #[cfg(feature = "_tls")]
        let tls = self.encryption(&target, &authority)?;
        #[cfg(feature = "_tls")]
        let is_encrypted = tls.is_some();
        #[cfg(not(feature = "_tls"))]
        let is_encrypted = false;
        if target.wants_tls == Some(true) && !is_encrypted {
            return Err(ConnectionError::unusable(KnownProblem::NO_TLS));
        }
        let is_own = self.custom.is_some() || self.resolver.is_some();
        if target.is_for_tls() && !is_encrypted && !is_own {
            let text = format!(
                "port 443 is for TLS, and {:?} says neither https nor http: write the scheme that is meant",
                self.target
            );
            return Err(ConnectionError::unusable(text));
        }
        let tunnel = match (&self.custom, &self.resolver, &target.place) {
            (Some(_), _, _) => Ok(None),
            (None, None, Place::Host { name, port }) => self.proxy.tunnel(name, *port, true),
            _ => self.proxy.tunnel(authority.host(), 0, false),
        };
        let tunnel = tunnel.map_err(ConnectionError::unusable)?;
        let is_local =
            self.custom.is_some() || self.resolver.is_none() && tunnel.is_none() && target.is_local();
        let resolver = self.resolver.unwrap_or_else(|| match (&tunnel, &target.place) {
            (Some(Tunnel { proxy, host: Some(_), .. }), _) => {
                Box::new(Dns::new(proxy.host.clone(), proxy.port))
            }
            (_, Place::Host { name, port }) => Box::new(Dns::new(name.clone(), *port)),
            (_, Place::Addresses(addresses)) => Box::new(AddressList::new(addresses.clone())),
        });
        let connector = Http2Connector {
            dialer: match self.custom {
                Some(custom) => Dialer::Custom(custom),
                None => Dialer::Sockets { options: self.sockets, tunnel: tunnel.map(Box::new) },
            },
            #[cfg(feature = "_tls")]
            tls,
            timeout: self.connect_timeout,
            guard: PanicGuard::default(),
        };
        let settings = PoolSettings {
            scheme: if is_encrypted { Scheme::HTTPS } else { Scheme::HTTP },
            authority,
            is_exposed: !is_encrypted && !is_local,
            user_agent,
            chosen: self.chosen,
        };
        Ok(Pool::new(self.target, settings, connector, resolver, self.observers))
    }

    #[cfg(feature = "_tls")]
    fn encryption(
        &self,
        target: &Target,
        authority: &Authority,
    ) -> Result<Option<Encryption>, ConnectionError> {
        let tls = match (&self.tls, target.wants_tls) {
            (Some(_), Some(false)) => {
                return Err(ConnectionError::unusable("http is without TLS, but tls is set: write https"));
            }
            (Some(tls), _) => tls.clone(),
            (None, Some(true)) => ClientTls::new().with_enabled_roots(),
            (None, _) => return Ok(None),
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        tls.connector(host).map(Some).map_err(ConnectionError::unusable)
    }
}

gax_text::short_debug! { self: ConnectionBuilder { target: without_user_info(&self.target) } }
