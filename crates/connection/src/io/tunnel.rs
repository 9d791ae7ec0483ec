//! The way through a proxy, for connections that need one.

use crate::io::proxy::ProxyRule;

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
    pub(crate) rule: ProxyRule,
    /// The host and port that the proxy looks up: the addresses are its own then. `None`: it connects to the addresses that
    /// it is for.
    pub(crate) host: Option<String>,
}

impl ProxyChoice {
    /// The tunnel to that host, which the proxy looks up if it `is_looked_up` at all; `None`: there is none to it.
    ///
    /// # Errors
    ///
    /// The proxy can't be used.
    pub(crate) fn tunnel(&self, host: &str, port: u16, is_looked_up: bool) -> Result<Option<Tunnel>, String> {
        let rule = match self {
            Self::None => None,
            Self::Of(uri) => Some(ProxyRule::of(uri)?),
            Self::Environment => ProxyRule::of_environment(host, |name| {
                std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
            })?,
        };
        let host_and_port = is_looked_up.then(|| format!("{host}:{port}"));
        Ok(rule.map(|rule| Tunnel { rule, host: host_and_port }))
    }
}
