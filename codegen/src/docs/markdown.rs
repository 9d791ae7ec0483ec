//! Comments of protos as rustdoc can show them.
//!
//! Comments in protos are Markdown by habit, not by rule: brackets that lead nowhere, addresses in the
//! open, indented examples that rustdoc would compile. They are read as Markdown, and of what was found only the
//! parts that are safe are written again: paragraphs, lists, code and links to the web. Everything else stays as text.

use super::words::{code, escape, plain_text};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, Parser, Tag, TagEnd, TextMergeStream};
use pulldown_cmark_to_cmark::{Options, calculate_code_block_token_count, cmark_with_options};
use std::borrow::Cow;

/// How deep quotes and lists of a comment are nested at most.
const DEEPEST: usize = 16;

/// The lines of a proto's comment for a doc comment, without empty lines around them.
pub(crate) fn rustdoc(comment: &[String]) -> Vec<String> {
    let lines: Vec<Cow<'_, str>> = comment.iter().map(|line| shallow(line)).collect();
    let text = lines.join("\n");
    let mut writer = Writer::default();
    TextMergeStream::new(Parser::new(&text)).for_each(|event| writer.event(event));
    let options = Options {
        code_block_token_count: calculate_code_block_token_count(&writer.events).unwrap_or(3),
        increment_ordered_list_bullets: true,
        ..Options::default()
    };
    let mut markdown = String::new();
    if cmark_with_options(writer.events.iter(), &mut markdown, options).is_err() {
        // No text leads to it: the events are balanced. Were one found, its comment would stay as text.
        markdown = references(&text);
    }
    markdown.trim_start_matches('\n').lines().map(|line| line.trim_end().to_owned()).collect()
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

/// Collects the events of a text that are safe, with what else it has as text.
#[derive(Default)]
struct Writer<'a> {
    events: Vec<Event<'a>>,
    in_code: bool,
    /// Inside a link, whether it stays one.
    link: Option<bool>,
    /// Something of the line is written already.
    in_line: bool,
}

impl<'a> Writer<'a> {
    fn event(&mut self, event: Event<'a>) {
        match event {
            Event::Text(_) if self.in_code => self.events.push(event),
            Event::Html(text) => {
                for line in text.lines() {
                    self.text(line);
                    self.block(Event::SoftBreak);
                }
            }
            Event::Text(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) => self.inline(code(&text)),
            Event::SoftBreak | Event::HardBreak => self.block(Event::SoftBreak),
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'a>) {
        match tag {
            Tag::Paragraph | Tag::Heading { .. } | Tag::HtmlBlock => self.block(Event::Start(Tag::Paragraph)),
            Tag::CodeBlock(_) => {
                self.in_code = true;
                let kind = CodeBlockKind::Fenced(CowStr::Borrowed("text"));
                self.block(Event::Start(Tag::CodeBlock(kind)));
            }
            Tag::List(_) | Tag::Item => self.block(Event::Start(tag)),
            Tag::Link { link_type, ref dest_url, .. } => {
                let is_web = dest_url.starts_with("https://") || dest_url.starts_with("http://");
                let is_bare = matches!(link_type, LinkType::Autolink | LinkType::Email);
                let stays = is_web && !is_bare && !dest_url.contains(['<', '>', ' ', '\\']);
                self.link = Some(stays);
                if stays {
                    let (dest_url, title, id) =
                        (dest_url.clone(), CowStr::Borrowed(""), CowStr::Borrowed(""));
                    self.events.push(Event::Start(Tag::Link {
                        link_type: LinkType::Inline,
                        dest_url,
                        title,
                        id,
                    }));
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::Paragraph | TagEnd::Heading(_) => self.block(Event::End(TagEnd::Paragraph)),
            TagEnd::HtmlBlock => {
                self.events.pop_if(|event| matches!(event, Event::SoftBreak));
                self.block(Event::End(TagEnd::Paragraph));
            }
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.block(Event::End(end));
            }
            TagEnd::List(_) | TagEnd::Item => self.block(Event::End(end)),
            TagEnd::Link if self.link.take() == Some(true) => self.events.push(Event::End(end)),
            _ => {}
        }
    }

    /// An event behind which a line begins.
    fn block(&mut self, event: Event<'a>) {
        self.events.push(event);
        self.in_line = false;
    }

    fn text(&mut self, text: &str) {
        // An address can't stand inside the text of a link.
        self.inline(match self.link {
            Some(true) if text.contains("://") || text.contains('_') => code(text),
            Some(true) => escape(text),
            _ => references(text),
        });
    }

    fn inline(&mut self, text: String) {
        let text = if self.in_line { text } else { harmless_start(text.trim_start()) };
        self.in_line |= !text.is_empty();
        self.events.push(Event::InlineHtml(text.into()));
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
        let text = " Lists assets.\n More of it.\n\n * one\n   continues\n * two\n   1. inner\n\n End.";
        assert_eq!(
            lines(text),
            ["Lists assets.", "More of it.", "", "* one", "  continues", "* two", "  1. inner", "", "End."]
        );
    }

    #[test]
    fn code_is_never_compiled() {
        assert_eq!(lines("See\n\n    let x = [1];\n"), ["See", "", "```text", "let x = [1];", "```"]);
        assert_eq!(lines("```rust\nfoo()\n```"), ["```text", "foo()", "```"]);
    }

    #[test]
    fn a_fence_is_longer_than_those_inside() {
        assert_eq!(lines("    ```\n    a\n    ```"), ["````text", "```", "a", "```", "````"]);
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
        assert_eq!(lines("[a b](https://c.d/e_f)"), ["[a b](https://c.d/e_f)"]);
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
