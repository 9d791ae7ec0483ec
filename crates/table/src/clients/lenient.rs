//! JSON as the most lenient of the readers takes it, with what stricter ones refuse.

use crate::document::{Kind, Member, Node, Span};
use std::sync::Arc;

/// More levels than this, and the readers of two clients stop.
const DEEPEST: usize = 255;

/// Syntax that a strict reader of JSON refuses, and a lenient one takes.
#[derive(Debug, Clone)]
pub(super) struct Quirk {
    /// The rule that says what a client does with it.
    pub(super) rule: &'static str,
    pub(super) span: Span,
    /// The text that all readers take, and the place where it belongs.
    pub(super) fix: Option<(Span, String)>,
}

/// A text as a tree.
#[derive(Debug)]
pub(super) struct Tree {
    /// `None`: nothing but white space.
    pub(super) root: Option<Node>,
    pub(super) quirks: Vec<Quirk>,
}

/// Where a text stops being JSON, even to a lenient reader.
pub(super) type NoJson = Span;

/// Reads a text without its byte order mark.
pub(super) fn read(text: &str) -> Result<Tree, NoJson> {
    let mut reader = Reader { text, at: 0, quirks: Vec::new() };
    reader.skip()?;
    if reader.at == text.len() {
        let rule = if text.is_empty() { "json.empty" } else { "json.blank" };
        return Ok(Tree { root: None, quirks: vec![Quirk { rule, span: Span::default(), fix: None }] });
    }
    let root = reader.value(0)?;
    reader.skip()?;
    if reader.at < text.len() {
        reader.quirk("json.text-behind", reader.at, text.len(), "");
    }
    Ok(Tree { root: Some(root), quirks: reader.quirks })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    quirks: Vec<Quirk>,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Notes a quirk, in place of which one would write `right`.
    fn quirk(&mut self, rule: &'static str, start: usize, end: usize, right: impl Into<String>) {
        let span = Span { start, end };
        self.quirks.push(Quirk { rule, span, fix: Some((span, right.into())) });
    }

    fn fault<T>(&self) -> Result<T, NoJson> {
        let end = self.at + self.rest().chars().next().map_or(0, char::len_utf8);
        Err(Span { start: self.at, end })
    }

    /// Passes white space and comments.
    fn skip(&mut self) -> Result<(), NoJson> {
        loop {
            self.at = self.text.len() - self.rest().trim_start_matches([' ', '\t', '\n', '\r']).len();
            let (start, rest) = (self.at, self.rest());
            let length = if rest.starts_with("/*") {
                rest.get(2..).and_then(|rest| rest.find("*/")).map(|end| end + 4)
            } else if rest.starts_with("//") || rest.starts_with('#') {
                Some(rest.find('\n').unwrap_or(rest.len()))
            } else {
                return Ok(());
            };
            let Some(length) = length else { return self.fault() };
            self.at += length;
            self.quirk("json.comments", start, self.at, "");
        }
    }

    /// Passes one of these characters; the first is the one that JSON has.
    fn separator(&mut self, right: char, wrong: char) -> Result<usize, NoJson> {
        let start = self.at;
        let Some(found) = self.rest().chars().next().filter(|found| [right, wrong].contains(found)) else {
            return self.fault();
        };
        self.at += 1;
        if found == wrong {
            self.at += usize::from(found == '=' && self.rest().starts_with('>'));
            self.quirk("json.separators", start, self.at, right);
        }
        Ok(start)
    }

    /// Passes the end of an array or object, if it is there; `comma` is where the last one was.
    fn end(&mut self, bracket: char, comma: Option<usize>) -> bool {
        let is_there = self.rest().starts_with(bracket);
        if is_there {
            if let Some(comma) = comma {
                self.quirk("json.trailing-comma", comma, comma + 1, "");
            }
            self.at += 1;
        }
        is_there
    }

    fn value(&mut self, depth: usize) -> Result<Node, NoJson> {
        let start = self.at;
        let kind = match self.rest().chars().next() {
            _ if depth > DEEPEST => return self.fault(),
            Some('{') => self.object(depth)?,
            Some('[') => self.array(depth)?,
            Some(quote @ ('"' | '\'')) => Kind::String(self.string(quote)?.into()),
            _ => self.literal()?,
        };
        Ok(Node { span: Span { start, end: self.at }, kind })
    }

    /// Passes a collection, from one bracket to the other.
    fn items(
        &mut self,
        bracket: char,
        mut item: impl FnMut(&mut Self) -> Result<(), NoJson>,
    ) -> Result<(), NoJson> {
        self.at += 1;
        let mut comma = None;
        loop {
            self.skip()?;
            if self.end(bracket, comma) {
                return Ok(());
            }
            item(self)?;
            self.skip()?;
            if self.end(bracket, None) {
                return Ok(());
            }
            comma = Some(self.separator(',', ';')?);
        }
    }

    fn array(&mut self, depth: usize) -> Result<Kind, NoJson> {
        let mut elements = Vec::new();
        self.items(']', |reader| {
            elements.push(reader.value(depth + 1)?);
            Ok(())
        })?;
        Ok(Kind::Array(elements))
    }

    fn object(&mut self, depth: usize) -> Result<Kind, NoJson> {
        let mut members: Vec<Member> = Vec::new();
        self.items('}', |reader| {
            let (key, key_span) = reader.key()?;
            let first = members.iter().position(|member| member.key == key);
            if let Some(first) = first.and_then(|first| members.get(first..)) {
                let rule = if depth == 0 { "json.duplicate-top" } else { "json.duplicate-nested" };
                let start = first.first().map_or(key_span.start, |member| member.key_span.start);
                let end = first.get(1).map_or(key_span.start, |next| next.key_span.start);
                let fix = Some((Span { start, end }, String::new()));
                reader.quirks.push(Quirk { rule, span: key_span, fix });
            }
            reader.skip()?;
            reader.separator(':', '=')?;
            reader.skip()?;
            members.push(Member { key, key_span, value: reader.value(depth + 1)? });
            Ok(())
        })?;
        Ok(Kind::Object(members))
    }

    fn key(&mut self) -> Result<(Arc<str>, Span), NoJson> {
        let Node { span, kind } = self.value(DEEPEST)?;
        let written = self.text.get(span.start..span.end).unwrap_or_default();
        match kind {
            Kind::String(text) => Ok((text, span)),
            Kind::Array(_) | Kind::Object(_) => Err(span),
            _ => {
                let key = Arc::from(written);
                self.quirk("json.unquoted", span.start, span.end, format!("{key:?}"));
                Ok((key, span))
            }
        }
    }

    fn string(&mut self, quote: char) -> Result<String, NoJson> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(character) = self.rest().chars().next() else { return self.fault() };
            self.at += character.len_utf8();
            match character {
                '\\' => text.push(self.escape()?),
                _ if character == quote => {
                    if quote == '\'' {
                        self.quirk("json.single-quotes", start, self.at, format!("{text:?}"));
                    }
                    return Ok(text);
                }
                '\0'..='\x1f' => {
                    let escaped = format!("\\u{:04x}", u32::from(character));
                    self.quirk("json.control-characters", self.at - 1, self.at, escaped);
                    text.push(character);
                }
                _ => text.push(character),
            }
        }
    }

    fn escape(&mut self) -> Result<char, NoJson> {
        let Some(character) = self.rest().chars().next() else { return self.fault() };
        self.at += character.len_utf8();
        Ok(match character {
            '"' | '\\' | '/' => character,
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let digits = self.rest().get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
                let Some(code) = digits else { return self.fault() };
                self.at += 4;
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => {
                self.at -= character.len_utf8();
                return self.fault();
            }
        })
    }

    fn literal(&mut self) -> Result<Kind, NoJson> {
        const ENDS: &[char] =
            &['/', '\\', ';', '#', '=', '{', '}', '[', ']', ':', ',', ' ', '\t', '\n', '\r', '\x0c'];
        let start = self.at;
        let text = self.rest().split(ENDS).next().unwrap_or_default().to_owned();
        if text.is_empty() {
            return self.fault();
        }
        self.at += text.len();
        let lower = text.to_ascii_lowercase();
        let keyword = match lower.as_str() {
            "null" => Some(Kind::Null),
            "true" => Some(Kind::Bool(true)),
            "false" => Some(Kind::Bool(false)),
            _ => None,
        };
        let is_json = if keyword.is_some() { lower == text } else { is_number(&text) };
        if !is_json {
            let right = if keyword.is_some() { lower } else { format!("{text:?}") };
            self.quirk("json.unquoted", start, self.at, right);
        }
        let other = || if is_json { Kind::Number(text.into()) } else { Kind::String(text.into()) };
        Ok(keyword.unwrap_or_else(other))
    }
}

/// Returns whether JSON's grammar has the number.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    digits(whole) && (whole == "0" || !whole.starts_with('0')) && digits(fraction) && digits(exponent)
}
