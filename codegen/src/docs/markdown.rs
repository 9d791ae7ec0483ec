//! Comments of protos as rustdoc can show them.
//!
//! Comments in protos are Markdown by habit, not by rule: brackets that lead nowhere, addresses in the
//! open, indented examples that rustdoc would compile. Here they are read as Markdown and written anew from
//! the few parts that are safe: paragraphs, lists, code and links to the web. Everything else stays as text.

use super::words::{code, escape, plain_text};
use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd, TextMergeStream};
use std::borrow::Cow;

/// How deep quotes and lists of a comment are nested at most.
const DEEPEST: usize = 16;

/// The lines of a proto's comment for a doc comment, without empty lines around them.
pub(crate) fn rustdoc(comment: &[String]) -> Vec<String> {
    let lines: Vec<Cow<'_, str>> = comment.iter().map(|line| shallow(line)).collect();
    let text = lines.join("\n");
    let mut writer = Writer::default();
    for event in TextMergeStream::new(Parser::new_ext(&text, Options::empty())) {
        writer.event(event);
    }
    writer.finish()
}

/// The line with quotes and lists nested no deeper than a reader follows: the parser's work grows with the square of
/// the depth.
fn shallow(line: &str) -> Cow<'_, str> {
    let markers = line.find(|c: char| !matches!(c, '>' | '-' | '*' | '+' | ' ' | '\t')).unwrap_or(line.len());
    let (start, rest) = line.split_at(markers);
    let is_marker = |c: char| !matches!(c, ' ' | '\t');
    match start.char_indices().filter(|(_, c)| is_marker(*c)).nth(DEEPEST) {
        None => Cow::Borrowed(line),
        Some((deep, _)) => Cow::Owned(format!("{}{rest}", line.get(..deep).unwrap_or_default())),
    }
}

/// The first sentence of a comment, on one line.
pub(crate) fn first_sentence(comment: &[String]) -> Option<String> {
    let lines = rustdoc(comment);
    let paragraph: Vec<&str> = lines.iter().map(String::as_str).take_while(|line| !line.is_empty()).collect();
    let first = paragraph.first()?;
    if first.starts_with("* ") || first.starts_with("1. ") || first.starts_with("```") {
        return None;
    }
    let text = paragraph.join(" ");
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    text.get(..end).map(str::to_owned)
}

#[derive(Default)]
struct Writer {
    lines: Vec<String>,
    /// The line that is being written; `None` at the start of a block.
    line: Option<String>,
    /// The indents that lists add to the front of lines, by depth.
    indents: Vec<usize>,
    /// Numbers of ordered lists, by depth.
    numbers: Vec<Option<u64>>,
    /// The text in front of the next line in place of the innermost indent.
    marker: Option<String>,
    /// A block is over, and the next one wants an empty line before it.
    gap: bool,
    /// A link's address, while inside it.
    link: Option<Link>,
    in_code: bool,
}

struct Link {
    address: Option<String>,
    text: String,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => {
                for line in text.lines() {
                    self.push_line(line);
                }
            }
            Event::Html(text) => {
                for line in text.lines() {
                    self.text(line);
                    self.flush();
                }
            }
            Event::Text(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) => self.inline(&code(&text)),
            Event::SoftBreak | Event::HardBreak => self.line_break(),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::CodeBlock(kind) => {
                self.flush();
                let fence = match &kind {
                    CodeBlockKind::Fenced(info) if info.starts_with('`') => "~~~text",
                    _ => "```text",
                };
                self.open_block();
                self.push_line(fence);
                self.in_code = true;
            }
            Tag::List(first) => {
                self.flush();
                // A list inside an item follows its text without a gap.
                if self.indents.is_empty() {
                    self.gap = !self.lines.is_empty();
                }
                self.numbers.push(first);
            }
            Tag::Item => {
                self.flush();
                let marker = match self.numbers.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "* ".to_owned(),
                };
                self.indents.push(marker.len());
                self.marker = Some(marker);
            }
            Tag::Link { link_type, dest_url, .. } => {
                let is_web = dest_url.starts_with("https://") || dest_url.starts_with("http://");
                let is_bare = matches!(link_type, LinkType::Autolink | LinkType::Email);
                let safe = is_web && !is_bare && !dest_url.contains(['<', '>', ' ', '\\']);
                self.link = Some(Link { address: safe.then(|| dest_url.into_string()), text: String::new() });
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::HtmlBlock => {
                self.flush();
                self.gap = true;
            }
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.push_line("```");
                self.gap = true;
            }
            TagEnd::Item => {
                self.flush();
                self.indents.pop();
                self.marker = None;
            }
            TagEnd::List(_) => {
                self.numbers.pop();
                self.gap = self.gap || self.indents.is_empty();
            }
            TagEnd::Link => {
                let Some(link) = self.link.take() else { return };
                match link.address {
                    Some(address) if !link.text.trim().is_empty() => {
                        let text = link.text.trim();
                        self.inline(&format!("[{text}](<{address}>)"));
                    }
                    _ => self.inline(&link.text),
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        for (index, line) in text.lines().enumerate() {
            if index > 0 {
                self.line_break();
            }
            let rendered = match self.link {
                // An address can't stand inside the text of a link.
                Some(Link { address: Some(_), .. }) => {
                    let mut escaped = String::new();
                    if line.contains("://") || line.contains('_') {
                        escaped.push_str(&code(line));
                    } else {
                        escape(&mut escaped, line);
                    }
                    escaped
                }
                _ => references(line),
            };
            self.inline(&rendered);
        }
    }

    /// Appends to the line.
    fn inline(&mut self, text: &str) {
        if let Some(link) = &mut self.link {
            link.text.push_str(text);
            return;
        }
        if self.line.is_none() {
            self.open_block();
        }
        let line = self.line.get_or_insert_default();
        line.push_str(if line.is_empty() { text.trim_start() } else { text });
    }

    fn line_break(&mut self) {
        if let Some(link) = &mut self.link {
            link.text.push(' ');
        } else {
            self.flush();
        }
    }

    /// Puts an empty line between blocks.
    fn open_block(&mut self) {
        if std::mem::take(&mut self.gap) && !self.lines.is_empty() {
            self.lines.push(String::new());
        }
    }

    /// Ends the line.
    fn flush(&mut self) {
        if let Some(line) = self.line.take() {
            let line = harmless_start(line.trim_end());
            self.push_line(&line);
        }
    }

    /// Writes a line behind what its lists put in front.
    fn push_line(&mut self, line: &str) {
        let outer =
            if self.marker.is_some() { self.indents.len().saturating_sub(1) } else { self.indents.len() };
        let indent: usize = self.indents.iter().take(outer).sum();
        let marker = self.marker.take().unwrap_or_default();
        let line = format!("{}{marker}{line}", " ".repeat(indent));
        self.lines.push(line.trim_end().to_owned());
    }

    fn finish(mut self) -> Vec<String> {
        self.flush();
        self.lines
    }
}

/// Plain text in which `[Name][full.Name]`, and `[full.Name]` alone, are references to other parts of the
/// API: they become code.
fn references(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, bracket) = rest.split_at(open);
        out.push_str(&plain_text(before));
        let (label, after) = match bracketed(bracket) {
            Some((label, after)) => match bracketed(after) {
                Some((target, after)) if is_path(target) => (label, after),
                _ if is_path(label) && label.contains(['.', '_']) => (label, after),
                _ => ("", bracket),
            },
            None => ("", bracket),
        };
        if label.is_empty() {
            out.push_str("\\[");
            rest = after.get(1..).unwrap_or_default();
        } else if is_path(label) {
            out.push_str(&code(label));
            rest = after;
        } else {
            out.push_str(&plain_text(label));
            rest = after;
        }
    }
    out.push_str(&plain_text(rest));
    out
}

/// The text in the brackets that a text begins with, and the text after them.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (inside, after) = text.strip_prefix('[')?.split_once(']')?;
    (!inside.is_empty() && !inside.contains('[')).then_some((inside, after))
}

fn is_path(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || "._/-".contains(character))
}

/// A line that does not start a list, heading, quotation or rule.
fn harmless_start(line: &str) -> String {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at(digits);
    let is_item = digits > 0 && (rest.starts_with('.') || rest.starts_with(')'));
    if is_item || (digits == 0 && line.starts_with(['#', '-', '+', '=', '>'])) {
        format!("{number}\\{rest}")
    } else {
        line.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        rustdoc(&text.lines().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_nested_without_end_is_cut() {
        for marker in [">", "> ", "- ", "* "] {
            let line = format!("{}text", marker.repeat(100_000));
            let lines = rustdoc(&[line]);
            assert!(lines.iter().any(|line| line.contains("text")), "{marker}");
            assert!(lines.iter().all(|line| line.len() < 200), "{marker}");
        }
        assert_eq!(rustdoc(&["> > quoted".to_owned()]), ["quoted"]);
    }

    #[test]
    fn paragraphs_and_lists_stay() {
        let text = " Lists assets.\n More of it.\n\n * one\n   goes on\n * two\n   1. inner\n\n End.";
        assert_eq!(
            lines(text),
            ["Lists assets.", "More of it.", "", "* one", "  goes on", "* two", "  1. inner", "", "End."]
        );
    }

    #[test]
    fn code_is_never_compiled() {
        assert_eq!(lines("See\n\n    let x = [1];\n"), ["See", "", "```text", "let x = [1];", "```"]);
        assert_eq!(lines("```rust\nfoo()\n```"), ["```text", "foo()", "```"]);
    }

    #[test]
    fn references_become_code_and_other_brackets_stay_text() {
        assert_eq!(lines("An [Asset][google.v1.Asset]."), ["An `Asset`."]);
        assert_eq!(
            lines("The [whole list][google.v1.Asset] of [google.v1.Asset]"),
            ["The whole list of `google.v1.Asset`"]
        );
        assert_eq!(lines("In [0, 1], [x] or [a"), ["In \\[0, 1\\], \\[x\\] or \\[a"]);
    }

    #[test]
    fn only_links_to_the_web_are_links() {
        assert_eq!(lines("[a b](https://c.d/e_f)"), ["[a b](<https://c.d/e_f>)"]);
        assert_eq!(lines("[a b](#there)"), ["a b"]);
        assert_eq!(lines("<https://c.d> and https://e.f."), ["<https://c.d> and <https://e.f>."]);
    }

    #[test]
    fn html_is_text() {
        assert_eq!(
            lines("a <b>c</b> <br>\n\n<div>\nd\n</div>"),
            ["a \\<b\\>c\\</b\\> \\<br\\>", "", "\\<div\\>", "d", "\\</div\\>"]
        );
    }

    #[test]
    fn a_line_does_not_start_something_else() {
        assert_eq!(lines("a\n\\# b\n2\\. c"), ["a", "\\# b", "2\\. c"]);
        assert_eq!(lines("a\n+1 b"), ["a", "\\+1 b"]);
    }

    #[test]
    fn a_first_sentence_is_one_line() {
        let comment = [" Creates a feed".to_owned(), " in a parent. And more.".to_owned()];
        assert_eq!(first_sentence(&comment).as_deref(), Some("Creates a feed in a parent."));
        assert_eq!(first_sentence(&["* a".to_owned()]), None);
        assert_eq!(first_sentence(&[]), None);
    }
}
