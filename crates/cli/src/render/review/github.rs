//! Annotations that GitHub shows next to the lines of a change.

use super::notice::Notice;
use gax_table::Severity;
use gax_text::Escaped;
use std::io::{self, Write};

/// A line for each remark.
pub(crate) fn github<'a>(
    notices: impl IntoIterator<Item = Notice<'a>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for notice in notices {
        let command = match notice.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            _ => "notice",
        };
        let mut properties = Vec::new();
        if let Some(place) = notice.place {
            let (line, column) = place.start;
            properties.push(format!("file={}", property(place.file)));
            properties.push(format!("line={line}"));
            let (end_line, end_column) = place.end.unzip();
            properties.extend(end_line.map(|line| format!("endLine={line}")));
            if end_line.is_none_or(|end| end == line) {
                properties.push(format!("col={column}"));
                properties.extend(end_column.map(|column| format!("endColumn={column}")));
            }
        }
        properties.push(format!("title={}", property(notice.rule)));
        writeln!(out, "::{command} {}::{}", properties.join(","), data(&notice.text))?;
    }
    Ok(())
}

/// A text as the value of a command.
fn data(text: &str) -> String {
    Escaped(text).to_string().replace('%', "%25")
}

/// A text as the value of a command's property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
