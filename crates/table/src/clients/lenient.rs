//! JSON as the most lenient of the readers takes it, with what stricter ones refuse.

use crate::document::{Kind, Node, Span, Strictness, json_node};
use crate::values::quoted;
use jsonc_parser::common::Range;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use std::collections::HashMap;

/// With more levels than this the readers of two clients stop.
const DEEPEST: usize = 255;
/// More faults than this are not worth a look at each.
const MOST_REPAIRS: usize = 100;
const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];
/// What a lenient reader takes for something that JSON has, and the rule about it.
const REPLACED: [(&str, &str, &str); 4] = [
    ("#", "", "json.comments"),
    (";", ",", "json.separators"),
    ("=>", ":", "json.separators"),
    ("=", ":", "json.separators"),
];

/// Syntax that a strict reader of JSON refuses, and a lenient one takes.
#[derive(Debug, Clone)]
pub(super) struct Quirk {
    /// The rule that says what a client does with it.
    pub(super) rule: &'static str,
    pub(super) span: Span,
    /// The text that all readers take, and the place where it belongs.
    pub(super) fix: (Span, String),
}

impl Quirk {
    /// A quirk in place of which one would write `right`.
    fn new(rule: &'static str, span: Span, right: impl Into<String>) -> Self {
        Self { rule, span, fix: (span, right.into()) }
    }
}

/// Where a text stops being JSON, even to a lenient reader.
#[derive(Debug)]
pub(super) struct NoJson {
    pub(super) span: Span,
    /// It stops at a word without quotes.
    pub(super) is_word: bool,
}

/// Reads a text without its byte order mark: its value, which is `None` for nothing but white space, and its quirks in their order.
pub(super) fn read(text: &str) -> Result<(Option<Node>, Vec<Quirk>), NoJson> {
    if text.trim_matches(BLANKS).is_empty() {
        let rule = if text.is_empty() { "json.empty" } else { "json.blank" };
        return Ok((None, vec![Quirk::new(rule, Span::default(), "")]));
    }
    let mut quirks = Vec::new();
    let mut repaired = text.to_owned();
    loop {
        let problem = match parse(&repaired) {
            Ok((root, own)) => {
                quirks.extend(own);
                quirks.sort_by_key(|quirk| quirk.span.start);
                return Ok((Some(root), quirks));
            }
            Err(problem) if quirks.len() > MOST_REPAIRS => return Err(problem),
            Err(problem) => problem,
        };
        let start = problem.span.start;
        let (before, rest) = repaired.split_at_checked(start).unwrap_or_default();
        let wrong = REPLACED.into_iter().find(|(wrong, ..)| rest.starts_with(wrong));
        let (end, right, rule) = match wrong {
            Some(("#", right, rule)) => (start + rest.find('\n').unwrap_or(rest.len()), right, rule),
            Some((wrong, right, rule)) => (start + wrong.len(), right, rule),
            None if parse(before).is_ok() => (text.len(), "", "json.text-behind"),
            None => return Err(problem),
        };
        quirks.push(Quirk::new(rule, Span { start, end }, right));
        repaired.replace_range(start..end, &format!("{right:0$}", end - start));
    }
}

fn parse(text: &str) -> Result<(Node, Vec<Quirk>), NoJson> {
    let collected = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let taken = ParseOptions {
        allow_loose_object_property_names: true,
        allow_trailing_commas: true,
        ..Strictness::Comments.options()
    };
    let fault = |span, is_word| NoJson { span, is_word };
    let parsed = parse_to_ast(text, &collected, &taken).map_err(|error| {
        let span = span(error.range());
        let (before, rest) = text.split_at_checked(span.start).unwrap_or_default();
        fault(span, before.contains(['{', '[']) && rest.starts_with(char::is_alphabetic))
    })?;
    let root = parsed.value.map(json_node);
    let root = root.ok_or_else(|| fault(Span::default(), false))?;
    let mut quirks = Vec::new();
    let tokens = parsed.tokens.unwrap_or_default();
    let (mut end, mut comma) = (0, None);
    for (index, TokenAndRange { token, range }) in tokens.iter().enumerate() {
        let span = span(*range);
        let part = |start, end| text.get(start..end).unwrap_or_default();
        if !part(end, span.start).trim_matches(BLANKS).is_empty() {
            return Err(fault(span, false));
        }
        end = span.end;
        let written = part(span.start, span.end);
        let is_key = || tokens.get(index + 1).is_some_and(|next| next.token == Token::Colon);
        quirks.extend(match (token, comma) {
            (Token::CommentLine(_) | Token::CommentBlock(_), _) => {
                quirks.push(Quirk::new("json.comments", span, ""));
                continue;
            }
            (Token::String(text), _) if written.starts_with('\'') => {
                Some(Quirk::new("json.single-quotes", span, quoted(text)))
            }
            (Token::String(text), _) if written.contains(|character| character < ' ') => {
                Some(Quirk::new("json.control-characters", span, quoted(text)))
            }
            (Token::Word(_) | Token::Number(_) | Token::Boolean(_) | Token::Null, _) if is_key() => {
                Some(Quirk::new("json.unquoted", span, quoted(written)))
            }
            (Token::CloseBrace | Token::CloseBracket, Some(comma)) => {
                Some(Quirk::new("json.trailing-comma", comma, ""))
            }
            _ => None,
        });
        comma = (*token == Token::Comma).then_some(span);
    }
    let behind = text.get(end..).unwrap_or_default();
    if !behind.trim_matches(BLANKS).is_empty() {
        quirks.push(Quirk::new("json.text-behind", Span { start: end, end: text.len() }, ""));
    }
    nested(&root, 0, &mut quirks);
    Ok((root, quirks))
}

/// Finds keys that an object has twice, and values that are too deep.
fn nested(node: &Node, depth: usize, quirks: &mut Vec<Quirk>) {
    if depth == DEEPEST && matches!(node.kind, Kind::Object(_) | Kind::Array(_)) {
        quirks.push(Quirk::new("json.depth", node.span, "null"));
    }
    let (members, mut seen) = (node.members(), HashMap::new());
    for (index, member) in members.iter().enumerate() {
        if let Some(first) = seen.insert(&member.key, index) {
            let rule = if depth == 0 { "json.duplicate-top" } else { "json.duplicate-nested" };
            let key = |index: usize| members.get(index).map_or(0, |member| member.key_span.start);
            let removed = Span { start: key(first), end: key(first + 1) };
            quirks.push(Quirk { rule, span: member.key_span, fix: (removed, String::new()) });
        }
        nested(&member.value, depth + 1, quirks);
    }
    node.items().iter().for_each(|item| nested(item, depth + 1, quirks));
}

fn span(range: Range) -> Span {
    Span { start: range.start, end: range.end }
}
