//! The file itself: elements, numbers and text as SVG wants them.

use gax_text::is_unprintable;
use std::fmt::Write as _;

/// Colours for light pages and for dark ones. The ground is painted too, so that both stay readable
/// where the page differs from what the system prefers. Hues are those of Okabe and Ito, which people
/// tell apart whatever their colour vision, as dark as white text needs.
pub(super) const STYLE: &str = "\
svg{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;font-size:13px}
.ground{fill:#ffffff}.ink{fill:#1f2328}.faint{fill:#59636e}.title{font-size:17px;font-weight:600}
.small{font-size:12px;fill:#59636e}.grid{stroke:#d1d9e0;stroke-width:1}.line{stroke:#818b98;stroke-width:1}
.ok{fill:#007f5c}.late{fill:#e69f00}.retried{fill:#b84f00}.final{fill:#a40e26}.lost{fill:#656d76}.on{fill:#ffffff;font-weight:600}
.late-on{fill:#1f2328;font-weight:600}.hatch{stroke:#818b98}.wait{fill:url(#wait);stroke:#818b98;stroke-width:1}
.granted{fill:none;stroke:#818b98;stroke-width:1;stroke-dasharray:2 3}
.refused{fill:none;stroke:#59636e;stroke-width:1.5;stroke-dasharray:5 4}
.total{stroke:#0969da;stroke-width:2;stroke-dasharray:7 4}.total-text{fill:#0969da;font-weight:600;font-size:12px}
.open{fill:url(#open)}.stop{stop-color:#818b98}.over{paint-order:stroke;stroke:#ffffff;stroke-width:5px;stroke-linejoin:round}
@media(prefers-color-scheme:dark){.ground{fill:#0d1117}.ink{fill:#f0f6fc}.faint,.small{fill:#9198a1}
.grid{stroke:#2a3038}.line,.hatch,.wait,.granted{stroke:#7d8590}.refused{stroke:#9198a1}
.final{fill:#c93c37}.over{stroke:#0d1117}.total{stroke:#58a6ff}.total-text{fill:#58a6ff}.stop{stop-color:#7d8590}}";

const PATTERNS: &str = "\
<defs><pattern id=\"wait\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
<line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"7\" stroke-width=\"2\"/></pattern>\
<linearGradient id=\"open\"><stop class=\"stop\" offset=\"0\" stop-opacity=\"0.9\"/>\
<stop class=\"stop\" offset=\"1\" stop-opacity=\"0\"/></linearGradient></defs>";

/// A picture being written.
pub(super) struct Paper {
    text: String,
}

impl Paper {
    pub(super) fn new(width: f64, height: f64, title: &str, caption: &str) -> Self {
        let (width, height) = (number(width), number(height));
        let (title, caption) = (escaped(title), escaped(caption));
        let mut paper = Self { text: String::new() };
        paper.line(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title caption\">"
        ));
        paper.line(format_args!("<style>\n{STYLE}\n</style>"));
        paper.line(format_args!("{PATTERNS}"));
        paper.line(format_args!("<rect class=\"ground\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>"));
        paper.line(format_args!("<title id=\"title\">{title}</title><desc id=\"caption\">{caption}</desc>"));
        paper.line(format_args!("<text class=\"ink title\" x=\"24\" y=\"36\">{title}</text>"));
        for (index, part) in wrapped(&caption, 130).iter().enumerate() {
            let y = if index == 0 { 58 } else { 75 };
            paper.line(format_args!("<text class=\"small\" x=\"24\" y=\"{y}\">{part}</text>"));
        }
        paper
    }

    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str) {
        let (x, y, width, height) = (number(x), number(y), number(width), number(height));
        self.line(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>"
        ));
    }

    pub(super) fn stroke(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let (x1, y1, x2, y2) = (number(from.0), number(from.1), number(to.0), number(to.1));
        self.line(format_args!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"));
    }

    /// A box without its right side: it continues where the picture ends.
    pub(super) fn open_rect(&mut self, x: f64, y: f64, to: f64, height: f64, class: &str) {
        let (x, y, to, bottom) = (number(x), number(y), number(to), number(y + height));
        self.line(format_args!("<path class=\"{class}\" d=\"M{to} {y}H{x}V{bottom}H{to}\"/>"));
    }

    /// `anchor` is start, middle or end.
    pub(super) fn text(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        let (x, y, text) = (number(x), number(y), escaped(text));
        self.line(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a String does not fail.
        let _infallible = writeln!(self.text, "{text}");
    }
}

/// About how wide a text comes out, in bold and the widest of the fonts named above.
pub(super) fn width_of(text: &str) -> f64 {
    let width = |c: char| match c {
        'A'..='Z' => 9.9,
        '0'..='9' | 'm' | 'w' => 9.1,
        ' ' | ',' | ':' | '.' | 'i' | 'l' | 't' | 'f' => 5.0,
        _ => 8.2,
    };
    text.chars().map(width).sum()
}

/// A coordinate: two digits after the point at most.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c if is_unprintable(c) => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// The text in two lines at most. A number stays with its unit.
fn wrapped(text: &str, width: usize) -> Vec<&str> {
    if text.chars().count() <= width {
        return vec![text];
    }
    let limit = text.char_indices().nth(width).map_or(text.len(), |(index, _)| index);
    let breaks = |start: &str| {
        let spaces = start.rmatch_indices(' ').map(|(at, _)| at);
        spaces.into_iter().find(|at| !start[..*at].ends_with(|last: char| last.is_ascii_digit()))
    };
    match text.get(..limit).and_then(breaks) {
        Some(at) => {
            let (first, rest) = text.split_at(at);
            vec![first, rest.trim_start()]
        }
        None => vec![text],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        assert_eq!(number(12.0), "12");
        assert_eq!(number(12.345_67), "12.35");
        assert_eq!(number(100.0), "100");
        assert_eq!(number(0.1), "0.1");
    }

    #[test]
    fn text_can_t_leave_its_element() {
        assert_eq!(
            escaped("</text><a href=\"x\">&\u{1b}"),
            "&lt;/text&gt;&lt;a href=&quot;x&quot;&gt;&amp; "
        );
    }

    #[test]
    fn long_captions_break_at_a_space() {
        assert_eq!(wrapped("one two three", 9), ["one two", "three"]);
        assert_eq!(wrapped("one", 9), ["one"]);
        assert_eq!(wrapped("onetwothree", 9), ["onetwothree"]);
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(wrapped("it ended at 4.7 s with OK", 16), ["it ended at", "4.7 s with OK"]);
    }
}
