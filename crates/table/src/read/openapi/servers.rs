//! Servers: the hosts of requests, and how their paths begin.

use crate::TableError;
use crate::document::Node;
use crate::values::Values;
use gax_retry::http::HostPattern;

/// How paths begin, each with the hosts where they do; no hosts are any.
pub(super) type Bases = Vec<(String, Vec<HostPattern>)>;

/// The servers that a document, a path or an operation has. Without any there is one for every host.
pub(super) fn bases(values: &Values<'_>, servers: Option<&Node>) -> Result<Bases, TableError> {
    let mut all: Bases = Vec::new();
    for server in values.elements(servers, "servers")? {
        values.members(Some(server), "a server")?;
        let Some(node) = server.member("url") else {
            return Err(values.fault(server.span, "has no url", "add url: https://api.example.com"));
        };
        let (host, base) = parts(&values.string(node, "url")?);
        let host = host.map(|host| with_stars(&host).parse::<HostPattern>());
        if let Some(Err(error)) = &host {
            let message = format!("requests to any host are treated as this server's: {error}");
            let help = "write a host with a variable for a whole label, or at its end";
            values.note("approximated", node.span, message, help);
        }
        let host = host.and_then(Result::ok);
        match all.iter_mut().find(|(known, _)| *known == base) {
            // A server for every host makes the others superfluous.
            Some((_, hosts)) if host.is_none() || hosts.is_empty() => hosts.clear(),
            Some((_, hosts)) => hosts.extend(host),
            None => all.push((base, host.into_iter().collect())),
        }
    }
    if all.is_empty() {
        all.push((String::new(), Vec::new()));
    }
    Ok(all)
}

/// The host, if there is one, and the path without the slash at its end.
fn parts(url: &str) -> (Option<String>, String) {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = url.get(..end).unwrap_or_default();
    let after_scheme = url.split_once("://").map(|(_, rest)| rest).or_else(|| url.strip_prefix("//"));
    let (host, path) = match after_scheme {
        Some(rest) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            (Some(host.to_owned()).filter(|host| !host.is_empty()), path)
        }
        None => (None, url),
    };
    let path = path.trim_end_matches('/');
    let path = if path.is_empty() || path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    (host, path)
}

/// A host in which variables are stars, and without a port that is one.
fn with_stars(host: &str) -> String {
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.starts_with('{') => name,
        _ => host,
    };
    let mut text = String::with_capacity(host.len());
    let mut rest = host;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        text.push('*');
        rest = after.split_once('}').map_or("", |(_, after)| after);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_host_and_a_base() {
        for (url, host, base) in [
            ("https://api.example.com/v2/", Some("api.example.com"), "/v2"),
            ("https://api.example.com", Some("api.example.com"), ""),
            ("//user@api.example.com:8443/a/b?c", Some("api.example.com:8443"), "/a/b"),
            ("/api/v1", None, "/api/v1"),
            ("api", None, "/api"),
            ("/", None, ""),
            ("{scheme}://{region}.example.com:{port}/{version}", Some("*.example.com"), "/{version}"),
            ("https://eu-{zone}.example.com", Some("eu-*.example.com"), ""),
        ] {
            let (own, path) = parts(url);
            assert_eq!((own.as_deref().map(with_stars).as_deref(), path.as_str()), (host, base), "{url}");
        }
    }
}
