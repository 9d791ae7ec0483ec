//! A service YAML's text to what it says about methods.

use crate::document::{Kind, Node, Source, read_yaml};
use crate::input::load;
use crate::{SourceLocation, TableError};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The methods of a service YAML (`asset_v1.yaml`): which services an API is made of, which
/// methods are reached over HTTP, and whether a client is made for some of them only.
///
/// # Examples
///
#[cfg_attr(feature = "yaml", doc = "```")]
#[cfg_attr(not(feature = "yaml"), doc = "```ignore")]
/// use gax_retry::MethodKind;
/// use gax_table::{MethodDescription, ServiceDescription, ServiceYaml};
///
/// let yaml = ServiceYaml::parse("
/// apis:
/// - name: example.v1.Library
/// - name: google.cloud.location.Locations
/// http:
///   rules:
///   - selector: google.cloud.location.Locations.GetLocation
/// ")?;
/// let unary = |name: &str| MethodDescription::new(name, MethodKind::Unary);
/// let services = yaml.mix_in(vec![
///     ServiceDescription::new("example.v1.Library").with_method(unary("GetBook")),
///     ServiceDescription::new("google.cloud.location.Locations")
///         .with_method(unary("ListLocations")).with_method(unary("GetLocation")),
/// ]);
/// assert_eq!(services.len(), 1);
/// assert_eq!(services[0].methods()[1].name(), "GetLocation");
/// # Ok::<(), gax_table::TableError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServiceYaml {
    pub(super) apis: HashSet<String>,
    pub(super) selectors: HashSet<String>,
    /// `None`: a client has all methods.
    pub(super) selected: Option<Selection>,
    auto_populated: Vec<AutoPopulatedField>,
    /// By selector.
    http_rules: HashMap<String, YamlHttpRule>,
}

/// The methods of a package that a client is made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Selection {
    pub(super) package: String,
    pub(super) methods: HashSet<String>,
}

impl ServiceYaml {
    /// Reads a text.
    ///
    /// # Errors
    ///
    /// It is not YAML.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        Self::read(&Source::new(None, text))
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The file can't be read, is not a regular file, is longer than 16 MiB, or is not YAML.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, TableError> {
        let path = path.as_ref();
        Self::parse_file(path.to_string_lossy(), &load(path)?)
    }

    /// Reads a file's content. Its name is for messages.
    ///
    /// # Errors
    ///
    /// It is not YAML.
    pub fn parse_file(name: impl AsRef<str>, content: &[u8]) -> Result<Self, TableError> {
        Self::read(&Source::decode(Some(name.as_ref().into()), content)?)
    }

    /// The fields of a method's requests that a client fills with a new id if they are empty.
    pub fn auto_populated_fields<'a>(
        &'a self,
        service: &str,
        method: &str,
    ) -> impl Iterator<Item = &'a AutoPopulatedField> + use<'a> {
        let name = format!("{service}.{method}");
        self.auto_populated.iter().filter(move |field| field.method == name)
    }

    /// How a method is reached over HTTP, if the YAML has it.
    #[must_use]
    pub fn http_rule(&self, service: &str, method: &str) -> Option<&YamlHttpRule> {
        self.http_rules.get(&format!("{service}.{method}"))
    }

    fn read(source: &Source) -> Result<Self, TableError> {
        let root = read_yaml(source)?;
        if !matches!(root.kind, Kind::Object(_)) {
            return Err(source.fault(root.span, "is not a service YAML", "write apis and http below it"));
        }
        Ok(Self {
            apis: texts(&root, &["apis"], "name"),
            selectors: texts(&root, &["http", "rules"], "selector"),
            selected: selected(&root),
            http_rules: items(&root, &["http", "rules"])
                .iter()
                .filter_map(|rule| {
                    Some((rule.member("selector")?.text()?.to_owned(), YamlHttpRule::read(rule)?))
                })
                .collect(),
            auto_populated: items(&root, &["publishing", "method_settings"])
                .iter()
                .flat_map(|entry| AutoPopulatedField::read(source, entry))
                .collect(),
        })
    }
}

/// The methods that a Java client is made for, if it is not all.
fn selected(root: &Node) -> Option<Selection> {
    let library = items(root, &["publishing", "library_settings"]).first()?;
    let path = ["java_settings", "common", "selective_gapic_generation", "methods"];
    let methods: HashSet<String> =
        items(library, &path).iter().filter_map(Node::text).map(str::to_owned).collect();
    let package = library.member("version").and_then(Node::text).filter(|_| !methods.is_empty())?;
    Some(Selection { package: package.to_owned(), methods })
}

fn texts(root: &Node, path: &[&str], key: &str) -> HashSet<String> {
    let texts = items(root, path).iter().filter_map(|item| item.member(key)?.text());
    texts.map(str::to_owned).collect()
}

/// The items of the list that is reached by these keys.
fn items<'a>(node: &'a Node, path: &[&str]) -> &'a [Node] {
    path.iter().try_fold(node, |node, key| node.member(key)).map_or(&[], Node::items)
}

/// A field of a method's requests that a client fills with a new id where it is empty
/// (`publishing.method_settings[].auto_populated_fields`, AIP-4235).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoPopulatedField {
    /// The method's full name, such as `example.v1.Library.GetBook`.
    pub(super) method: String,
    name: String,
    origin: SourceLocation,
}

impl AutoPopulatedField {
    /// The fields of that entry of `method_settings`.
    pub(super) fn read(source: &Source, entry: &Node) -> Vec<Self> {
        let method = entry.member("selector").and_then(Node::text);
        let fields = entry.member("auto_populated_fields").map_or(&[][..], Node::items);
        let Some(method) = method else { return Vec::new() };
        let field = |node: &Node| {
            let (method, name) = (method.to_owned(), node.text()?.to_owned());
            Some(Self { method, name, origin: source.origin(node.span) })
        };
        fields.iter().filter_map(field).collect()
    }

    /// The field's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// An error about the field, at its place: the problem, and what to do about it.
    #[must_use]
    pub fn error(&self, problem: &str, help: &str) -> TableError {
        let message = format!("the field {:?} of {} can't be filled: {problem}", self.name, self.method);
        TableError::new(message).with_help(help).at(self.origin.clone(), self.name.clone())
    }
}

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
