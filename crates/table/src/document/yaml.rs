//! YAML text to nodes.

use super::continuation::Indented;
use super::node::{Kind, Member, Node, Span};
use super::source::Source;
use super::texts::Texts;
use crate::TableError;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span as YamlSpan, Tag};
use std::sync::Arc;

/// How deep collections may lie in each other.
const DEEPEST: usize = 512;

/// Reads a text that holds one document. Aliases and tags are refused: a table without them can be read
/// by anybody, and can't unfold into gigabytes.
///
/// Quoted scalars may continue at any column, as `PyYAML` and `SnakeYAML` have it.
pub(crate) fn read_yaml(source: &Source) -> Result<Node, TableError> {
    read(source, source.text(), &Indented::default()).or_else(|error| {
        // Only a text that can't be read as it stands is looked at again.
        let indented = Indented::quoted(source.text());
        read(source, &indented.text, &indented).map_err(|_| error)
    })
}

/// Reads a text with spaces put into it. Places are those of the source.
fn read(source: &Source, text: &str, indented: &Indented) -> Result<Node, TableError> {
    let (cursor, open, texts) = (Cursor::default(), Vec::new(), Texts::default());
    let mut reader = Reader { source, indented, cursor, open, texts };
    let mut root = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| reader.scan_error(&error))?;
        if let Some(node) = reader.event(event, span)? {
            if root.is_some() {
                return Err(reader.fault(node.span, "begins a second document", "write one document"));
            }
            root = Some(node);
        }
    }
    root.ok_or_else(|| {
        source.error(Span::default(), "the file is empty", "a retry table has interfaces or entries")
    })
}

/// A collection that has not ended yet.
enum Open {
    Array { start: usize, elements: Vec<Node> },
    Object { start: usize, members: Vec<Member>, key: Option<(Arc<str>, Span)> },
}

struct Reader<'a> {
    source: &'a Source,
    indented: &'a Indented,
    cursor: Cursor,
    open: Vec<Open>,
    texts: Texts,
}

impl Reader<'_> {
    /// Takes an event; gives a document's root once it is whole.
    fn event(&mut self, event: Event<'_>, span: YamlSpan) -> Result<Option<Node>, TableError> {
        let node = match event {
            Event::Scalar(text, style, _, tag) => {
                let span = self.span(span);
                self.refuse_tag(tag.as_deref(), span)?;
                Node { span, kind: scalar(&text, style, &mut self.texts) }
            }
            Event::SequenceStart(_, tag) => {
                let start = self.begin(span, tag.as_deref())?;
                self.open.push(Open::Array { start, elements: Vec::new() });
                return Ok(None);
            }
            Event::MappingStart(_, tag) => {
                let start = self.begin(span, tag.as_deref())?;
                self.open.push(Open::Object { start, members: Vec::new(), key: None });
                return Ok(None);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let end = self.span(span).end;
                match self.open.pop() {
                    Some(Open::Array { start, mut elements }) => {
                        elements.shrink_to_fit();
                        Node { span: trimmed(self.source, start, end), kind: Kind::Array(elements) }
                    }
                    Some(Open::Object { start, mut members, .. }) => {
                        members.shrink_to_fit();
                        Node { span: trimmed(self.source, start, end), kind: Kind::Object(members) }
                    }
                    None => return Ok(None),
                }
            }
            Event::Alias(_) => {
                let span = self.span(span);
                return Err(self.fault(span, "is an alias", "write the value out"));
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => return Ok(None),
        };
        self.place(node)
    }

    /// Puts a value where it belongs: into the innermost open collection, else it is a root.
    fn place(&mut self, node: Node) -> Result<Option<Node>, TableError> {
        match self.open.last_mut() {
            None => return Ok(Some(node)),
            Some(Open::Array { elements, .. }) => elements.push(node),
            Some(Open::Object { members, key, .. }) => match key.take() {
                Some((key, key_span)) => members.push(Member { key, key_span, value: node }),
                None => *key = Some((key_text(self.source, &node)?, node.span)),
            },
        }
        Ok(None)
    }

    fn begin(&mut self, span: YamlSpan, tag: Option<&Tag>) -> Result<usize, TableError> {
        let span = self.span(span);
        self.refuse_tag(tag, span)?;
        if self.open.len() >= DEEPEST {
            return Err(self.fault(span, "lies too deep", "a retry table needs few levels"));
        }
        Ok(span.start)
    }

    fn refuse_tag(&self, tag: Option<&Tag>, span: Span) -> Result<(), TableError> {
        match tag {
            Some(_) => Err(self.fault(span, "has a tag", "remove the tag")),
            None => Ok(()),
        }
    }

    fn span(&mut self, span: YamlSpan) -> Span {
        let start = self.byte(&span.start);
        let end = self.byte(&span.end);
        Span { start, end: end.max(start) }
    }

    fn byte(&mut self, marker: &Marker) -> usize {
        self.cursor.byte(self.source.text(), self.indented.original(marker.index()))
    }

    fn scan_error(&mut self, error: &ScanError) -> TableError {
        let start = self.byte(error.marker());
        let span = Span { start, end: start };
        self.source.error(span, format!("not YAML: {}", error.info()), "correct the text here")
    }

    fn fault(&self, span: Span, problem: &str, help: &str) -> TableError {
        self.source.fault(span, problem, help)
    }
}

/// Translates places counted in characters to bytes, by walking from the last place asked for.
#[derive(Default)]
struct Cursor {
    character: usize,
    byte: usize,
}

impl Cursor {
    fn byte(&mut self, text: &str, character: usize) -> usize {
        let (before, after) = text.split_at_checked(self.byte).unwrap_or((text, ""));
        if character >= self.character {
            let steps = character - self.character;
            let ahead = after.char_indices().nth(steps).map_or(after.len(), |(offset, _)| offset);
            self.byte += ahead;
        } else {
            let steps = self.character - character;
            self.byte = before.char_indices().rev().nth(steps - 1).map_or(0, |(offset, _)| offset);
        }
        self.character = character;
        self.byte
    }
}

/// A block collection ends where the next thing begins; white space and comments before that are not
/// part of it, so far as one line can tell.
fn trimmed(source: &Source, start: usize, end: usize) -> Span {
    let text = source.text().get(start..end).unwrap_or_default();
    Span { start, end: start + text.trim_end().len() }
}

fn key_text(source: &Source, node: &Node) -> Result<Arc<str>, TableError> {
    match &node.kind {
        Kind::String(text) | Kind::Number(text) => Ok(text.clone()),
        Kind::Null | Kind::Bool(_) => Ok(source.excerpt(node.span).into()),
        Kind::Array(_) | Kind::Object(_) => {
            Err(source.fault(node.span, "is not a key", "write a name before the colon"))
        }
    }
}

/// A scalar by YAML's core schema; numbers in the forms that JSON has too.
fn scalar(text: &str, style: ScalarStyle, texts: &mut Texts) -> Kind {
    if style != ScalarStyle::Plain {
        return Kind::String(texts.kept(text));
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "true" | "True" | "TRUE" => Kind::Bool(true),
        "false" | "False" | "FALSE" => Kind::Bool(false),
        number if is_number(number) => Kind::Number(texts.kept(number)),
        other => Kind::String(texts.kept(other)),
    }
}

/// Digits with an optional sign, fraction and exponent.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    digits(whole) && (fraction.is_empty() || digits(fraction)) && digits(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Node, TableError> {
        read_yaml(&Source::new(None, text))
    }

    fn error(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn values_have_their_places() {
        let text = "# é\na:\n- name: x→y  # é\n  list: [1, 'two']\n- true\n";
        let source = Source::new(None, text);
        let root = read_yaml(&source).unwrap();
        let Kind::Object(members) = &root.kind else { panic!("{root:?}") };
        assert_eq!((&*members[0].key, source.excerpt(members[0].key_span)), ("a", "a".to_owned()));
        let Kind::Array(elements) = &members[0].value.kind else { panic!("{root:?}") };
        let Kind::Object(first) = &elements[0].kind else { panic!("{root:?}") };
        assert_eq!(source.excerpt(first[0].value.span), "x→y");
        assert_eq!(source.origin(first[0].value.span).to_string(), "line 3, column 9");
        assert_eq!(source.excerpt(first[1].value.span), "[1, 'two']");
        let Kind::Array(list) = &first[1].value.kind else { panic!("{root:?}") };
        assert_eq!(list[0].kind, Kind::Number("1".into()));
        assert_eq!(list[1].kind, Kind::String("two".into()));
        assert_eq!(source.excerpt(list[1].span), "'two'");
        assert_eq!(elements[1].kind, Kind::Bool(true));
    }

    #[test]
    fn scalars_are_yamls_core_schema() {
        for (text, kind) in [
            ("~", Kind::Null),
            ("1.30", Kind::Number("1.30".into())),
            ("-2e+3", Kind::Number("-2e+3".into())),
            ("'1'", Kind::String("1".into())),
            ("yes", Kind::String("yes".into())),
            ("0x1F", Kind::String("0x1F".into())),
            ("1_000", Kind::String("1_000".into())),
            ("60s", Kind::String("60s".into())),
        ] {
            assert_eq!(read(text).unwrap().kind, kind, "{text}");
        }
    }

    /// As Google's own service YAML of four APIs has it; `PyYAML` and `SnakeYAML` read a space.
    #[test]
    fn quoted_scalars_go_on_at_any_column() {
        for (quoted, value) in [
            (
                "'Manages functions executed in response to\nevents.'",
                "Manages functions executed in response to events.",
            ),
            (
                "\"Manages functions executed in response to\nevents.\"",
                "Manages functions executed in response to events.",
            ),
            ("'a  \n\n  it''s\n\tb'", "a\nit's b"),
            ("\"a\\\n  b\\n\nc\"", "ab\n c"),
            ("'a\n # b\n- c: d'", "a # b - c: d"),
        ] {
            let text = format!("é:\n  overview: {quoted}\n  rules:\n  - 'x'\nb: 'y\nz'\n");
            let source = Source::new(None, &text);
            let root = read_yaml(&source).unwrap_or_else(|error| panic!("{error}"));
            let Kind::Object(members) = &root.kind else { panic!("{root:?}") };
            let Kind::Object(documentation) = &members[0].value.kind else { panic!("{root:?}") };
            assert_eq!(documentation[0].value.kind, Kind::String(value.into()));
            assert_eq!(
                text.get(documentation[0].value.span.start..documentation[0].value.span.end),
                Some(quoted)
            );
            assert_eq!(&*documentation[1].key, "rules");
            let Kind::Array(rules) = &documentation[1].value.kind else { panic!("{root:?}") };
            assert_eq!(source.excerpt(rules[0].span), "'x'");
            assert_eq!((&*members[1].key, &members[1].value.kind), ("b", &Kind::String("y z".into())));
            assert_eq!(source.excerpt(members[1].value.span), "'y\nz'");
        }
    }

    #[test]
    fn nothing_but_quoted_scalars_goes_on_at_any_column() {
        for text in ["a:\n  b: 'c\nd'\n  e: it's\n f: g\n", "a:\n  b: 'c\n---\nd'\n", "a:\n  b: 'c\nd\n"] {
            let found = error(text);
            assert!(found.starts_with("line 2, column 6: not YAML: "), "{text}: {found}");
        }
    }

    #[test]
    fn keys_that_come_twice_are_both_there() {
        let Kind::Object(members) = read("a: 1\na: 2\n1: 3\n").unwrap().kind else { panic!() };
        let keys: Vec<_> = members.iter().map(|member| &*member.key).collect();
        assert_eq!(keys, ["a", "a", "1"]);
    }

    #[test]
    fn what_is_refused_says_why() {
        assert_eq!(error("a: &x 1\nb: *x"), "line 2, column 4: *x is an alias; write the value out");
        assert_eq!(error("a: !!str 1"), "line 1, column 4: !!str 1 has a tag; remove the tag");
        assert_eq!(
            error("a: 1\n---\nb: 2"),
            "line 3, column 1: b: 2 begins a second document; write one document"
        );
        assert_eq!(error("[a]: 1"), "line 1, column 1: [a] is not a key; write a name before the colon");
        assert!(error("a: [1").starts_with("line "));
        assert_eq!(error(""), "line 1, column 1: the file is empty; a retry table has interfaces or entries");
        let deep = error(&"- ".repeat(100_000));
        assert!(deep.ends_with("lies too deep; a retry table needs few levels"), "{deep}");
        assert!(error(&"[".repeat(100_000)).starts_with("line 1"));
    }
}
