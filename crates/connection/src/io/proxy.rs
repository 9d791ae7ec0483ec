//! Proxies that connections go through, by HTTP's method `CONNECT`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gax_driver::__private::is_loopback;
use gax_text::Escaped;
use gax_wire::__private::KnownProblem;
use gax_wire::ConnectProblem;
use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use percent_encoding::percent_decode_str;
use std::fmt;
use std::io;
use std::str::FromStr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The variables that name a proxy, and those that name the hosts it isn't for: the first one that is there counts. They are those of
/// [gRPC](https://github.com/grpc/grpc/blob/master/doc/environment_variables.md).
const PROXY: [&str; 4] = ["grpc_proxy", "https_proxy", "HTTPS_PROXY", "http_proxy"];
const EXEMPT: [&str; 3] = ["no_grpc_proxy", "no_proxy", "NO_PROXY"];

/// The longest head of a response that is read.
const MAX_HEAD: usize = 8 << 10;

/// A proxy, and the credentials for it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The value of `proxy-authorization`.
    authorization: Option<String>,
}

impl FromStr for Proxy {
    type Err = String;

    /// Reads `http://user:password@host:port`, of which host and port have to be there.
    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "write http://host:port, or http://user:password@host:port";
        let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        // The text may have a password in it: errors leave it out.
        let user_info = with_scheme.rsplit_once('@').and_then(|(before, _)| before.split_once("://"));
        if user_info.is_some_and(|(_, user_info)| user_info.contains(['/', '?', '#', '@'])) {
            let escapes = "/ as %2F, ? as %3F, # as %23, @ as %40";
            return Err(format!(
                "its user or password has a character that a URI does not allow there: write {escapes}"
            ));
        }
        let uri: Uri = with_scheme.parse().map_err(|error| format!("it is not a URI: {error}; {FORM}"))?;
        if uri.scheme_str() != Some("http") {
            let scheme = uri.scheme_str().unwrap_or_default();
            return Err(format!("only proxies of plain HTTP can be used, not of {scheme:?}: {FORM}"));
        }
        let authority = uri.authority().map_or("", http::uri::Authority::as_str);
        let (user, host_and_port) =
            authority.rsplit_once('@').map_or((None, authority), |(user, rest)| (Some(user), rest));
        let host = uri.host().unwrap_or_default();
        if host.is_empty() {
            return Err(format!("it has no host: {FORM}"));
        }
        let port = match host_and_port.strip_prefix(host).and_then(|rest| rest.strip_prefix(':')) {
            None => return Err(format!("it has no port: {FORM}")),
            Some(port) => {
                port.parse().map_err(|_| format!("{port:?} is not a port: a number from 0 to 65535"))?
            }
        };
        let authorization = user.map(|user| {
            let (user, password) = user.split_once(':').unwrap_or((user, ""));
            let decoded = |text| percent_decode_str(text).collect::<Vec<u8>>();
            format!("Basic {}", STANDARD.encode([decoded(user), b":".to_vec(), decoded(password)].concat()))
        });
        Ok(Self { host: without_brackets(host).to_owned(), port, authorization })
    }
}

/// Short: credentials are left out.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl Proxy {
    /// Has the proxy connect to that host and port, over a connection to it.
    pub(super) async fn open(&self, mut stream: TcpStream, to: &str) -> io::Result<TcpStream> {
        let authorization = self.authorization.as_ref();
        let authorization =
            authorization.map_or_else(String::new, |value| format!("Proxy-Authorization: {value}\r\n"));
        let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{authorization}\r\n");
        let failed =
            |error: io::Error| io::Error::new(error.kind(), format!("the proxy {self} failed: {error}"));
        stream.write_all(request.as_bytes()).await.map_err(failed)?;
        loop {
            let Some(head) = read_head(&mut stream).await.map_err(failed)? else {
                let text = format!("the proxy {self} failed: the head of its response is too long");
                return Err(unusable(text));
            };
            let status = head.lines().next().unwrap_or_default().trim_end();
            let Some(code) = status.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)) else {
                return Err(unusable(format!(
                    "the proxy {self} doesn't speak HTTP: is it a SOCKS or TLS proxy?"
                )));
            };
            let advice = match (code, self.authorization.is_some()) {
                // The response comes behind it.
                _ if code.starts_with('1') => continue,
                _ if code.starts_with('2') => return Ok(stream),
                ("407", false) => ": it requires credentials, as http://user:password@host:port",
                ("407", true) => ": it rejects these credentials",
                _ => "",
            };
            let text = format!("the proxy {self} replied {} to CONNECT {to}{advice}", Escaped(status));
            let kind = io::ErrorKind::ConnectionRefused;
            return Err(if matches!(code, "403" | "405" | "407") {
                io::Error::new(kind, KnownProblem::new(ConnectProblem::RefusedByProxy, text))
            } else {
                io::Error::new(kind, text)
            });
        }
    }
}

/// No later attempt would find another proxy there.
fn unusable(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, KnownProblem::new(ConnectProblem::UnusableProxy, text))
}

/// Reads the head of a response, and not a byte of what follows: the server may have spoken already. `None`: it is too long.
async fn read_head(stream: &mut TcpStream) -> io::Result<Option<String>> {
    const END: &[u8] = b"\r\n\r\n";
    let (mut head, mut seen) = (Vec::new(), [0; 512]);
    loop {
        let count = stream.peek(&mut seen).await?;
        let before = head.len();
        head.extend_from_slice(seen.get(..count).unwrap_or_default());
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it closed the connection"));
        }
        let end = head.windows(END.len()).position(|bytes| bytes == END).map(|at| at + END.len());
        let is_http = b"HTTP/1.".iter().zip(&head).all(|(expected, byte)| expected == byte);
        head.truncate(end.unwrap_or(head.len()));
        let taken = head.len() - before;
        stream.read_exact(seen.get_mut(..taken).unwrap_or_default()).await?;
        if end.is_some() || !is_http {
            return Ok(Some(String::from_utf8_lossy(&head).into_owned()));
        }
        if head.len() > MAX_HEAD {
            return Ok(None);
        }
    }
}

/// Which proxy connections go through.
pub(crate) enum ProxyChoice {
    /// The one that the environment names.
    Environment,
    /// The one of that URI.
    Of(String),
    None,
}

/// How connections get through a proxy.
#[derive(Debug)]
pub(crate) struct Tunnel {
    pub(crate) proxy: Proxy,
    /// The hosts that the environment's proxy is not for. `None`: none is exempt.
    exempt: Option<Matcher>,
    /// The host and port that the proxy looks up: the addresses are its own then. `None`: it connects to the addresses that
    /// it is for.
    pub(crate) host: Option<String>,
}

fn is_exempt(hosts: &Matcher, host: &str) -> bool {
    if is_loopback(host) {
        return true;
    }
    let host = without_brackets(host);
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let uri = Uri::builder().scheme("https").authority(host).path_and_query("/").build();
    uri.is_ok_and(|uri| hosts.intercept(&uri).is_none())
}

impl ProxyChoice {
    /// The tunnel to that host, which the proxy looks up if it `is_looked_up` at all; `None`: there is none to it.
    ///
    /// # Errors
    ///
    /// The proxy can't be used.
    pub(crate) fn tunnel(&self, host: &str, port: u16, is_looked_up: bool) -> Result<Option<Tunnel>, String> {
        let tunnel = match self {
            Self::None => None,
            Self::Of(uri) => Some(Tunnel::of(uri)?),
            Self::Environment => Tunnel::of_environment(host, |name| {
                std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
            })?,
        };
        let host = is_looked_up.then(|| format!("{host}:{port}"));
        Ok(tunnel.map(|tunnel| Tunnel { host, ..tunnel }))
    }
}

impl Tunnel {
    /// That proxy, for all hosts.
    pub(crate) fn of(text: &str) -> Result<Self, String> {
        let proxy = text.parse().map_err(|reason| format!("the proxy can't be used: {reason}"))?;
        Ok(Self { proxy, exempt: None, host: None })
    }

    /// The proxy that the environment names for that host; `None`: it names none.
    pub(crate) fn of_environment(
        host: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, String> {
        let find = |names: &[&'static str]| {
            names.iter().find_map(|name| Some((*name, variable(name).filter(|value| !value.is_empty())?)))
        };
        let Some((name, text)) = find(&PROXY) else { return Ok(None) };
        let hosts = find(&EXEMPT).map(|(_, hosts)| hosts).unwrap_or_default();
        // It tells hosts that are exempt: whatever is not has this proxy.
        let exempt = Matcher::builder().all("http://proxy").no(hosts).build();
        if is_exempt(&exempt, host) {
            return Ok(None);
        }
        let proxy = text.parse().map_err(|reason| format!("the proxy in {name} can't be used: {reason}"))?;
        Ok(Some(Self { proxy, exempt: Some(exempt), host: None }))
    }

    /// Returns whether connections to that host go through the proxy.
    pub(crate) fn is_for(&self, host: &str) -> bool {
        self.exempt.as_ref().is_none_or(|hosts| !is_exempt(hosts, host))
    }
}

fn without_brackets(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Result<Option<Tunnel>, String> {
        environment_of("assets.test", variables)
    }

    fn environment_of(host: &str, variables: &[(&str, &str)]) -> Result<Option<Tunnel>, String> {
        Tunnel::of_environment(host, |name| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_is_read_as_grpc_reads_it() {
        let proxy = |variables: &[_]| environment(variables).unwrap().map(|rule| rule.proxy.to_string());
        assert_eq!(proxy(&[]), None);
        assert_eq!(proxy(&[("HTTPS_PROXY", "")]), None);
        assert_eq!(proxy(&[("HTTP_PROXY", "http://a:1")]), None, "a CGI program's requests could set it");
        assert_eq!(proxy(&[("http_proxy", "http://a:1")]).as_deref(), Some("a:1"));
        assert_eq!(proxy(&[("HTTPS_PROXY", "http://a:1")]).as_deref(), Some("a:1"));
        assert_eq!(proxy(&[("HTTPS_PROXY", "http://a:1"), ("https_proxy", "b:2/")]).as_deref(), Some("b:2"));
        assert_eq!(
            proxy(&[("https_proxy", "b:2"), ("grpc_proxy", "http://[::1]:3")]).as_deref(),
            Some("[::1]:3")
        );
    }

    #[test]
    fn hosts_are_exempt() {
        let rule =
            environment(&[("https_proxy", "a:1"), ("no_proxy", "assets.internal, 10.0.0.0/8,fd00::1")]);
        let rule = rule.unwrap().unwrap();
        for (host, is_for) in [
            ("cloudasset.googleapis.com", true),
            ("assets.internal", false),
            ("v1.assets.internal", false),
            ("myassets.internal", true),
            ("10.1.2.3", false),
            ("11.1.2.3", true),
            ("[fd00::1]", false),
            ("fd00::2", true),
            ("localhost", false),
            ("127.0.0.1", false),
            ("[::1]", false),
        ] {
            assert_eq!(rule.is_for(host), is_for, "{host}");
        }
        assert!(environment(&[("https_proxy", "a:1"), ("NO_PROXY", "*")]).unwrap().is_none());
        // A proxy that can't be used is no error for them.
        let socks = [("HTTPS_PROXY", "socks5://a:1"), ("NO_PROXY", ".internal")];
        assert!(environment_of("localhost", &socks).unwrap().is_none());
        assert!(environment_of("v1.assets.internal", &socks).unwrap().is_none());
        environment(&socks).unwrap_err();
        assert!(Tunnel::of("http://a:1").unwrap().is_for("localhost"));
    }

    #[test]
    fn a_proxy_that_can_t_be_used_says_why_without_its_password() {
        for (text, expected) in [
            ("socks5://u:secret@a:1", "only proxies of plain HTTP can be used, not of \"socks5\""),
            ("https://u:secret@a:1", "only proxies of plain HTTP can be used, not of \"https\""),
            ("http://u:secret@a", "it has no port"),
            ("http://u:secret@a:99999", "\"99999\" is not a port"),
            ("http://u:secret@:1", "it "),
            ("a b", "it is not a URI"),
            ("http://u:8080/secret@a:1", "write / as %2F"),
            ("http://u:secret#secret@a:1", "write / as %2F"),
            ("u:secret?secret@a:1", "write / as %2F"),
            ("http://u:sec@secret@a:1", "write / as %2F"),
        ] {
            let error = environment(&[("https_proxy", text)]).unwrap_err();
            assert!(error.starts_with("the proxy in https_proxy can't be used: "), "{error}");
            assert!(error.contains(expected) && !error.contains("secret"), "{text}: {error}");
        }
    }

    #[test]
    fn credentials_are_basic_and_hidden() {
        let proxy: Proxy = "http://Aladdin:open%20ses%40me@a:1".parse().unwrap();
        assert_eq!(proxy.authorization.as_deref(), Some("Basic QWxhZGRpbjpvcGVuIHNlc0BtZQ=="));
        assert_eq!(format!("{proxy:?}"), "Proxy(a:1)");
        let nameless: Proxy = "http://token@a:1".parse().unwrap();
        assert_eq!(nameless.authorization.as_deref(), Some("Basic dG9rZW46"));
    }
}
