//! From a text to its values, whichever syntax it has.

use crate::document::{Kind, Node, Source, Span, Strictness, read_json, read_toml, read_yaml};
use crate::{Dialect, TableError, TableFormat};

/// A syntax that a text may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Json,
    Yaml,
    Toml,
}

/// A text's values.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) format: TableFormat,
    pub(super) root: Node,
    /// Why the text is not JSON except for lenient readers.
    pub(super) not_strict: Option<TableError>,
}

/// A text's values, and the format that they are in.
pub(super) fn read_document(
    source: &Source,
    wanted: Option<TableFormat>,
    dialect: Dialect,
) -> Result<Document, TableError> {
    let mut not_strict = None;
    let root = match syntax(source, wanted)? {
        Syntax::Json => {
            let root;
            (root, not_strict) = read_json_as(source, dialect)
                .map_err(|error| other_syntax(source, wanted).unwrap_or(error))?;
            root
        }
        Syntax::Yaml => {
            let root = read_yaml(source)?;
            let is_yaml = matches!(format_of(&root), TableFormat::GapicYaml | TableFormat::OpenApi);
            if wanted.is_none() && !is_yaml {
                let start = Span { start: root.span.start, end: root.span.start };
                let message = "the file is YAML, but neither GAPIC YAML nor an OpenAPI document";
                let help = "write a service config as JSON, or GAPIC YAML with interfaces";
                return Err(source.error(start, message, help));
            }
            root
        }
        Syntax::Toml => {
            return Ok(Document { format: TableFormat::Toml, root: read_toml(source)?, not_strict });
        }
    };
    let format = wanted.unwrap_or_else(|| format_of(&root));
    Ok(Document { format, root, not_strict })
}

/// The error for a text that is not JSON though its format is one of JSON, where it has another syntax.
fn other_syntax(source: &Source, wanted: Option<TableFormat>) -> Option<TableError> {
    let wanted = wanted?;
    let name = match syntax(source, None) {
        Ok(Syntax::Yaml) => "YAML",
        Ok(Syntax::Toml) => "TOML",
        _ => return None,
    };
    let what = if wanted == TableFormat::ClientConfig { "client config" } else { "service config" };
    let message = format!("the file is {name}, but a {what} is JSON");
    Some(source.error(Span::default(), message, "write it as JSON, or name the format that it has"))
}

/// Returns whether a text that can't be read was meant to be a service config, as far as anybody can tell.
pub(super) fn may_be_service_config(source: &Source, wanted: Option<TableFormat>) -> bool {
    wanted.is_none_or(|format| format == TableFormat::ServiceConfig)
        && !matches!(syntax(source, None), Ok(Syntax::Yaml | Syntax::Toml))
}

/// The format that a document's keys tell; a service config where they tell nothing.
fn format_of(root: &Node) -> TableFormat {
    let find =
        |key: &str| root.members().iter().find(|member| *member.key == *key).map(|member| &member.value);
    let is_text = |value: &Node| matches!(value.kind, Kind::String(_) | Kind::Number(_));
    if find("openapi").or_else(|| find("swagger")).is_some_and(is_text) {
        return TableFormat::OpenApi;
    }
    match (find("interfaces").map(|value| &value.kind), find("config_schema_version")) {
        (Some(Kind::Object(_)), None) => TableFormat::ClientConfig,
        (Some(_), _) | (None, Some(_)) => TableFormat::GapicYaml,
        (None, None) => TableFormat::ServiceConfig,
    }
}

/// JSON begins with a bracket, TOML has a table or an assignment in its first line, YAML a key or an item.
fn syntax(source: &Source, wanted: Option<TableFormat>) -> Result<Syntax, TableError> {
    let text = source.text();
    let start = text.trim_start();
    match wanted {
        Some(TableFormat::Toml) => return Ok(Syntax::Toml),
        Some(TableFormat::ServiceConfig | TableFormat::ClientConfig) => return Ok(Syntax::Json),
        Some(TableFormat::GapicYaml | TableFormat::OpenApi) | None => {}
    }
    if start.starts_with(['{', '/']) {
        return Ok(Syntax::Json);
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let Some(first) = lines.into_iter().next() else {
        // Nothing but space and comments: the name is all there is to go by.
        return Ok(if source.is_named("toml") { Syntax::Toml } else { Syntax::Json });
    };
    if first.starts_with('[') {
        let is_header = first.trim_start_matches('[').starts_with(|c: char| c.is_alphabetic() || c == '"')
            && first.split('#').next().is_some_and(|line| line.trim_end().ends_with(']'));
        return Ok(if is_header { Syntax::Toml } else { Syntax::Json });
    }
    let key_end = first.find(['=', ':']).map(|end| first.split_at(end).1);
    match key_end {
        Some(rest) if rest.starts_with('=') => Ok(Syntax::Toml),
        Some(_) => Ok(Syntax::Yaml),
        None if first.starts_with("- ") || first == "---" || first.starts_with('%') => Ok(Syntax::Yaml),
        None => {
            let start = text.find(first).unwrap_or(0);
            let span = Span { start, end: start + first.len() };
            Err(source.fault(
                span,
                "is neither JSON nor YAML nor TOML",
                "a retry table begins with { or a key",
            ))
        }
    }
}

/// The text as the dialect's reader takes it, and why stricter ones don't.
fn read_json_as(source: &Source, dialect: Dialect) -> Result<(Node, Option<TableError>), TableError> {
    let strict = |root| (root, None);
    match dialect {
        Dialect::Grpc => read_json(source, Strictness::Strict).map(strict),
        Dialect::GaxJava => read_json(source, Strictness::Comments).map(strict),
        Dialect::AsWritten => read_json(source, Strictness::Strict).map(strict).or_else(|error| {
            let root = read_json(source, Strictness::Comments)?;
            Ok((root, Some(error)))
        }),
    }
}
