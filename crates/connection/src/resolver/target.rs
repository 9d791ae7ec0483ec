//! The target of a connection, as gRPC spells it.

use crate::resolver::address::{Address, check_path};
use gax_driver::__private::is_loopback;
use http::Uri;
use http::uri::Authority;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// The port of a target that names none (gRPC's default).
const PORT: u16 = 443;

/// The target of a connection: a host to be resolved, or addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) place: Place,
    /// `true` if its scheme asks for TLS (`https`), `false` if for none (`http`); `None`: it says neither.
    pub(crate) wants_tls: Option<bool>,
    /// The `:authority` of requests.
    pub(crate) authority: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Host { name: String, port: u16 },
    Addresses(Vec<Address>),
}

/// Why a target can't be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetError {
    target: String,
    reason: String,
}

gax_text::error_text! { TargetError { target, reason }, "the target {target:?} can't be connected to: {reason}" }

/// A target without the user and password that it should not have.
pub(crate) fn without_user_info(target: &str) -> String {
    let scheme = SCHEMES.into_iter().find(|scheme| target.starts_with(&format!("{scheme}:")));
    match target.rsplit_once('@') {
        Some((_, host)) if scheme != Some("unix") => {
            scheme.map_or_else(|| format!("..@{host}"), |scheme| format!("{scheme}://..@{host}"))
        }
        _ => target.to_owned(),
    }
}

const SCHEMES: [&str; 6] = ["http", "https", "dns", "ipv4", "ipv6", "unix"];

const FORMS: &str = "write https://host:port, http://host:port, dns:///host:port, ipv4:address:port,.., \
                     ipv6:[address]:port,.. or unix:path";

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        Self::read(text).map_err(|reason| TargetError { target: without_user_info(text), reason })
    }
}

impl Target {
    fn read(text: &str) -> Result<Self, String> {
        let (scheme, rest) =
            match text.split_once(':').map(|(scheme, rest)| (scheme.to_ascii_lowercase(), rest)) {
                Some((scheme, rest)) if SCHEMES.contains(&&*scheme) || !is_port(rest) => (scheme, rest),
                // `host` and `host:port` are names, as for gRPC.
                _ => ("dns".to_owned(), text),
            };
        if scheme != "unix" && text.contains('@') {
            return Err(
                "it has credentials, which gRPC servers don't look at there: leave them out".to_owned()
            );
        }
        let (place, wants_tls, authority) = match &*scheme {
            "http" | "https" => return Self::of_uri(text, scheme == "https"),
            "dns" => {
                let name = match rest.strip_prefix("//").map(|rest| rest.split_once('/')) {
                    None => rest,
                    Some(Some(("", name))) => name,
                    Some(Some((server, _))) => {
                        return Err(format!(
                            "it names the DNS server {server}, but the system's resolver is used: write \
                             dns:///, or set your own resolver"
                        ));
                    }
                    Some(None) => return Err("write dns:///host:port, with three slashes".to_owned()),
                };
                let (host, port) = host_and_port(name)?;
                if Authority::from_str(name).is_err() {
                    return Err(format!("{host:?} is not a host name: {FORMS}"));
                }
                (place(host, port), None, name)
            }
            "ipv4" | "ipv6" => {
                let addresses = addresses(rest, scheme == "ipv4")?;
                (Place::Addresses(addresses), None, rest.split(',').next().unwrap_or(rest))
            }
            "unix" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                if path.is_empty() {
                    return Err("it has no path: write unix:path or unix:///path".to_owned());
                }
                check_path(path.as_ref())?;
                (Place::Addresses(vec![Address::Unix(PathBuf::from(path))]), None, "localhost")
            }
            other => return Err(format!("the scheme {other:?} is not known: {FORMS}")),
        };
        Ok(Self { place, wants_tls, authority: authority.to_owned() })
    }

    fn of_uri(text: &str, is_tls: bool) -> Result<Self, String> {
        let uri = Uri::from_str(text).map_err(|problem| format!("it is not a URI: {problem}"))?;
        let authority = uri.authority().ok_or_else(|| format!("it has no host: {FORMS}"))?;
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err("it has a path, which a gRPC target does not have: remove it".to_owned());
        }
        let host = authority.host();
        let port = match authority.as_str().strip_prefix(host).and_then(|rest| rest.strip_prefix(':')) {
            None if is_tls => PORT,
            None => 80,
            Some(port) => port_of(port)?,
        };
        Ok(Self { place: place(host, port), wants_tls: Some(is_tls), authority: authority.to_string() })
    }

    /// Returns whether its port is that of TLS, and it doesn't say that it is meant without.
    pub(crate) fn is_for_tls(&self) -> bool {
        let is_tls = |address: &Address| matches!(address, Address::Tcp(address) if address.port() == PORT);
        self.wants_tls.is_none()
            && match &self.place {
                Place::Host { port, .. } => *port == PORT,
                Place::Addresses(addresses) => addresses.iter().any(is_tls),
            }
    }

    /// Returns whether all of it is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        match &self.place {
            Place::Host { name, .. } => is_loopback(name),
            Place::Addresses(addresses) => addresses.iter().all(|address| match address {
                Address::Tcp(address) => address.ip().is_loopback(),
                Address::Unix(_) => true,
            }),
        }
    }
}

/// A host's name, or an address that needs no resolver.
fn place(host: &str, port: u16) -> Place {
    match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(address) => Place::Addresses(vec![Address::Tcp(SocketAddr::new(address, port))]),
        Err(_) => Place::Host { name: host.to_owned(), port },
    }
}

/// Returns whether the text behind a colon is a port: of a host without a scheme.
fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn port_of(port: &str) -> Result<u16, String> {
    let number = Some(port).filter(|port| is_port(port)).and_then(|port| port.parse().ok());
    number.ok_or_else(|| format!("{port:?} is not a port: a number from 0 to 65535"))
}

fn host_and_port(name: &str) -> Result<(&str, u16), String> {
    // Of an address of IPv6, colons belong to the host.
    let colon = match name.rfind(']') {
        Some(end) => name.get(end..).and_then(|rest| rest.find(':')).map(|at| at + end),
        None => name.find(':'),
    };
    let (host, port) = match colon {
        Some(at) => (name.get(..at).unwrap_or_default(), name.get(at + 1..)),
        None => (name, None),
    };
    if host.is_empty() {
        return Err(format!("it has no host: {FORMS}"));
    }
    let port = match port {
        None => PORT,
        Some(port) => port_of(port)?,
    };
    Ok((host, port))
}

fn addresses(list: &str, are_v4: bool) -> Result<Vec<Address>, String> {
    let address = |text: &str| {
        let (host, port) = host_and_port(text)?;
        let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        let ip = ip.filter(|ip| ip.is_ipv4() == are_v4);
        let ip =
            ip.ok_or_else(|| format!("{host:?} is not an address of this kind: write names after dns:///"))?;
        Ok(Address::Tcp(SocketAddr::new(ip, port)))
    };
    list.split(',').map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        match text.parse::<Target>() {
            Ok(Target { place: Place::Host { name, port }, wants_tls, authority, .. }) => {
                format!("{name} {port} {wants_tls:?} {authority}")
            }
            Ok(Target { place: Place::Addresses(addresses), wants_tls, authority, .. }) => {
                let addresses: Vec<_> = addresses.iter().map(ToString::to_string).collect();
                format!("{} {wants_tls:?} {authority}", addresses.join(" "))
            }
            Err(error) => error.reason,
        }
    }

    #[test]
    fn targets_are_spelled_as_grpc_spells_them() {
        for (text, expected) in [
            ("https://pub.sub", "pub.sub 443 Some(true) pub.sub"),
            ("HTTPS://pub.sub:8443", "pub.sub 8443 Some(true) pub.sub:8443"),
            ("http://[::1]", "[::1]:80 Some(false) [::1]"),
            ("http://pub.sub/", "pub.sub 80 Some(false) pub.sub"),
            ("http://127.0.0.1:50051", "127.0.0.1:50051 Some(false) 127.0.0.1:50051"),
            ("https://[::1]:50051", "[::1]:50051 Some(true) [::1]:50051"),
            ("dns:///server:50051", "server 50051 None server:50051"),
            ("dns:server", "server 443 None server"),
            ("server:50051", "server 50051 None server:50051"),
            ("server", "server 443 None server"),
            ("dns:///[::1]:50051", "[::1]:50051 None [::1]:50051"),
            ("ipv4:10.0.0.1:1,10.0.0.2", "10.0.0.1:1 10.0.0.2:443 None 10.0.0.1:1"),
            ("ipv6:[::1]:1,[::2]", "[::1]:1 [::2]:443 None [::1]:1"),
            ("unix:relative/path", "unix:relative/path None localhost"),
            ("unix:///absolute/path", "unix:/absolute/path None localhost"),
        ] {
            assert_eq!(show(text), expected, "{text}");
        }
    }

    #[test]
    fn a_target_that_is_none_says_why() {
        for (text, expected) in [
            ("", "it has no host"),
            ("http://server/v1", "it has a path"),
            ("http://", "it is not a URI"),
            ("http://server:99999", "\"99999\" is not a port"),
            ("https://server:", "\"\" is not a port"),
            ("https://user:secret@server", "it has credentials"),
            ("dns:///server:+5", "\"+5\" is not a port"),
            ("dns:///server:70000", "\"70000\" is not a port"),
            ("dns:///ser ver:1", "\"ser ver\" is not a host name"),
            ("ser\r\nver", "is not a host name"),
            ("user@server:1", "it has credentials"),
            ("dns:///user:secret@server", "it has credentials"),
            ("user:secret@server:1", "it has credentials"),
            ("dns://8.8.8.8/server", "it names the DNS server 8.8.8.8"),
            ("dns://server", "write dns:///host:port"),
            ("dns:///server:x", "\"x\" is not a port"),
            ("dns:///:50051", "it has no host"),
            ("ipv4:server:1", "\"server\" is not an address of this kind"),
            ("ipv4:[::1]:1", "is not an address of this kind"),
            ("ipv6:10.0.0.1:1", "is not an address of this kind"),
            ("unix:", "it has no path"),
            ("server:", "\"\" is not a port"),
            ("xds:///server", "the scheme \"xds\" is not known"),
        ] {
            assert!(show(text).contains(expected), "{text}: {}", show(text));
        }
    }
}
