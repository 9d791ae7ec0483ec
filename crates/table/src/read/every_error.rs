//! All errors of a document, of which a reader finds one at a time.

use super::syntax::Document;
use crate::TableError;
use crate::document::{Kind, Node, Source, Span};
use crate::input::MAX_FILE;
use std::ops::Range;
use std::sync::Arc;

/// The most errors that are looked for.
const MOST: usize = 20;

/// The first error of a document, with those that `read` finds when what is wrong has been taken out. No more text
/// is read for them than the longest file may have.
pub(super) fn every_error<T>(
    source: &Source,
    mut document: Document,
    first: TableError,
    read: impl Fn(&Document) -> Result<T, TableError>,
) -> TableError {
    let (mut others, mut removed) = (Vec::new(), Removed::default());
    removed.take(&mut document.root, &first);
    for _ in 1..(MAX_FILE / source.text().len().max(1)).min(MOST) {
        let Err(error) = read(&document) else { break };
        match removed.take(&mut document.root, &error) {
            Some(true) => others.push(error.in_line(|place| source.line_at(place))),
            Some(false) => {}
            None => break,
        }
    }
    first.in_line(|place| source.line_at(place)).followed_by(others)
}

/// What was taken out of a document.
#[derive(Default)]
struct Removed {
    /// Where the values are that it was in.
    above: Vec<Span>,
    /// The keys, which others may refer to.
    keys: Vec<Arc<str>>,
}

impl Removed {
    /// Takes out the smallest value that an error is about. Returns whether the error has nothing to do with what was
    /// taken out before; `None`: it is about the document as a whole.
    fn take(&mut self, root: &mut Node, error: &TableError) -> Option<bool> {
        let (_, path) = smallest(root, &error.origin()?.span())?;
        let (last, above) = path.split_first()?;
        let mut node = root;
        let mut spans = vec![node.span];
        for index in above.iter().rev() {
            node = match &mut node.kind {
                Kind::Array(items) => items.get_mut(*index)?,
                Kind::Object(members) => &mut members.get_mut(*index)?.value,
                _ => return None,
            };
            spans.push(node.span);
        }
        let value = match &mut node.kind {
            Kind::Array(items) => items.remove(*last),
            Kind::Object(members) => {
                let member = members.remove(*last);
                self.keys.push(member.key);
                member.value
            }
            _ => return None,
        };
        let refers = matches!(&value.kind, Kind::String(name) if self.keys.contains(name));
        let is_news = !refers && !self.above.contains(&value.span);
        self.above.append(&mut spans);
        Some(is_news)
    }
}

/// The length of the smallest value or key that a place is in, and the way to it, the last step first.
fn smallest(node: &Node, place: &Range<usize>) -> Option<(usize, Vec<usize>)> {
    let parts: Vec<(Span, &Node)> = match &node.kind {
        Kind::Array(items) => items.iter().map(|item| (item.span, item)).collect(),
        Kind::Object(members) => members.iter().map(|member| (member.key_span, &member.value)).collect(),
        _ => return None,
    };
    let found = parts.into_iter().enumerate().filter_map(|(index, (key, value))| {
        let spans = [key, value.span].into_iter();
        let around = spans.filter(|span| span.start <= place.start && place.end <= span.end);
        let own = around.map(|span| (span.end - span.start, Vec::new())).min();
        let inner = smallest(value, place).into_iter().chain(own).min_by_key(|(length, _)| *length);
        inner.map(|(length, mut path)| {
            path.push(index);
            (length, path)
        })
    });
    found.min_by_key(|(length, _)| *length)
}
