//! A TOML text, read piece by piece.
//!
//! While the parser reads a text it takes some twenty times its length. A large table is long because it has many entries or
//! definitions, each under a separate header; read one by one, they take no more than the longest of them. Whatever can't be
//! divided in that way, or is not TOML, is left to the parser as a whole.

use super::node::{Kind, Member, Node, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A part of a text that begins with a header, up to the next such part.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece<'t> {
    pub(super) start: usize,
    pub(super) text: &'t str,
    /// `None`: it is what is before the first header.
    pub(super) header: Option<Header<'t>>,
}

/// The first line of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header<'t> {
    /// `[key]`
    Table(&'t str),
    /// `[key.member]`
    Member(&'t str),
    /// `[[key]]`
    Element(&'t str),
}

/// The pieces of a text; `None`: it has fewer than two, or a line that may be a header and is hard to read.
///
/// A line that only looks like a header, in a text of several lines, ends a piece too early, so that it is not TOML.
pub(super) fn pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let (mut start, mut header, mut path) = (0, None, Vec::new());
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let first = line.trim_start_matches([' ', '\t']);
        if first.starts_with('[') {
            let (is_element, keys) = keys_of(first)?;
            let next = match (is_element, keys.as_slice()) {
                (false, [key]) => Some(Header::Table(key)),
                (false, [key, _]) => Some(Header::Member(key)),
                (true, [key]) => Some(Header::Element(key)),
                _ => None,
            };
            let is_below = !path.is_empty() && keys.len() > path.len() && keys.starts_with(&path);
            let is_apart = matches!((header, next), (Some(Header::Table(_)), Some(Header::Member(_))));
            if next.is_some() && (is_apart || !is_below) {
                pieces.push(Piece { start, text: text.get(start..end)?, header });
                (start, header, path) = (end, next, keys);
            }
        }
        end += line.len();
    }
    pieces.push(Piece { start, text: text.get(start..)?, header });
    Some(pieces).filter(|pieces| pieces.len() > 1)
}

/// The keys of a header, and whether it is one of an array's elements.
fn keys_of(line: &str) -> Option<(bool, Vec<&str>)> {
    let line = line.strip_prefix('[')?;
    let element = line.strip_prefix('[');
    let (close, mut rest) = element.map_or(("]", line), |rest| ("]]", rest));
    let mut keys = Vec::new();
    let trimmed = |text: &'_ str| text.len() - text.trim_start_matches([' ', '\t']).len();
    loop {
        rest = rest.get(trimmed(rest)..)?;
        let (key, after) = match rest.chars().next()? {
            quote @ ('"' | '\'') => rest.get(1..)?.split_once(quote)?,
            _ => rest.split_at(rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')?),
        };
        if key.is_empty() || key.contains('\\') {
            return None;
        }
        keys.push(key);
        rest = after.get(trimmed(after)..)?;
        match rest.strip_prefix('.') {
            Some(next) => rest = next,
            None => break,
        }
    }
    let after = rest.strip_prefix(close)?.trim();
    (after.is_empty() || after.starts_with('#')).then_some((element.is_some(), keys))
}

/// The document that the pieces make together.
#[derive(Debug, Default)]
pub(super) struct Whole {
    members: Vec<Member>,
    /// Where each key is, and in which way it may come again.
    places: HashMap<Arc<str>, (usize, Growth)>,
    /// The keys of what grows by members, with its place.
    inner: HashSet<(usize, Arc<str>)>,
}

/// How the value of a key grows with the pieces that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growth {
    No,
    Members,
    Elements,
}

impl Whole {
    /// Adds what a piece says of a key; `None`: nothing here tells whether TOML lets the key come again.
    pub(super) fn add(&mut self, header: Option<Header<'_>>, member: Member) -> Option<()> {
        let growth = match header {
            Some(Header::Element(key)) if *key == *member.key => Growth::Elements,
            Some(Header::Table(key) | Header::Member(key)) if *key == *member.key => Growth::Members,
            _ => Growth::No,
        };
        match self.places.get(&member.key) {
            None => {
                let place = self.members.len();
                self.places.insert(member.key.clone(), (place, growth));
                if let (Growth::Members, Kind::Object(members)) = (growth, &member.value.kind) {
                    self.inner.extend(members.iter().map(|member| (place, member.key.clone())));
                }
                self.members.push(member);
                Some(())
            }
            Some((place, known)) if *known == growth && !matches!(header, Some(Header::Table(_))) => {
                match (&mut self.members.get_mut(*place)?.value.kind, member.value.kind) {
                    (Kind::Array(elements), Kind::Array(more)) if growth == Growth::Elements => {
                        elements.extend(more);
                        Some(())
                    }
                    (Kind::Object(members), Kind::Object(more)) if growth == Growth::Members => {
                        let is_new =
                            more.iter().all(|member| self.inner.insert((*place, member.key.clone())));
                        members.extend(more);
                        is_new.then_some(())
                    }
                    _ => None,
                }
            }
            Some(_) => None,
        }
    }

    /// The document.
    pub(super) fn into_node(mut self) -> Node {
        for member in &mut self.members {
            match &mut member.value.kind {
                Kind::Array(elements) => elements.shrink_to_fit(),
                Kind::Object(members) => members.shrink_to_fit(),
                _ => {}
            }
        }
        Node { span: Span::default(), kind: Kind::Object(self.members) }
    }
}
