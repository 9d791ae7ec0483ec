//! The rules by which a service YAML has methods reached over HTTP.

use crate::document::Node;

/// How a method is reached over HTTP (`http.rules[]`): the service YAML takes precedence over the `google.api.http` of the
/// proto, mainly for the methods of mixed-in services.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct YamlHttpRule {
    /// The verb, such as `GET`.
    pub verb: String,
    /// The template of the path.
    pub path: String,
    /// The field that is the body, or `*`; empty: there is none.
    pub body: String,
    /// The field that the response is; empty: all of it.
    pub response_body: String,
    /// The bindings that are used if this one does not fit.
    pub additional_bindings: Vec<YamlHttpRule>,
}

impl YamlHttpRule {
    /// The rule of an entry; `None`: it has no pattern.
    pub(super) fn read(entry: &Node) -> Option<Self> {
        const VERBS: [&str; 5] = ["get", "put", "post", "delete", "patch"];
        let text = |node: &Node, key: &str| node.member(key).and_then(Node::text).map(str::to_owned);
        let custom = || {
            let custom = entry.member("custom")?;
            Some((text(custom, "kind")?, text(custom, "path")?))
        };
        let usual = VERBS.iter().find_map(|verb| Some((verb.to_ascii_uppercase(), text(entry, verb)?)));
        let (verb, path) = usual.or_else(custom)?;
        let additional = entry.member("additional_bindings").map_or(&[][..], Node::items);
        Some(Self {
            verb,
            path,
            body: text(entry, "body").unwrap_or_default(),
            response_body: text(entry, "response_body").unwrap_or_default(),
            additional_bindings: additional.iter().filter_map(Self::read).collect(),
        })
    }
}
