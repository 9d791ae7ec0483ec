//! Patterns for the paths of requests.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A pattern for the path of a request, in the notation of Google's API definitions.
///
/// | in the pattern | in the path |
/// | --- | --- |
/// | `{name}` or `*` | one segment that is not empty |
/// | `{name=projects/*/locations/*}` | what the inner pattern says |
/// | `**` or `{name=**}`, at the end only | all that follows, also nothing |
/// | `{name}:cancel` | one segment with that end |
/// | anything else | itself; both may be percent-encoded |
///
/// Segments are split before they are decoded, so an object's name with an encoded slash in it is one. A slash at the end makes
/// another path.
///
/// # Examples
///
/// ```
/// # use gax_retry::http as gax_http;
/// use gax_http::PathPattern;
///
/// let pattern: PathPattern = "/b/{bucket}/o/{object}".parse()?;
/// assert!(pattern.matches("/b/photos/o/2026%2Fcat.jpg"));
/// assert!(!pattern.matches("/b/photos/o/2026/cat.jpg"));
/// # Ok::<(), gax_retry::http::PatternError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    text: String,
    segments: Vec<Segment>,
    open: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Literal(Vec<u8>),
    Variable { prefix: Vec<u8>, suffix: Vec<u8> },
}

impl PathPattern {
    /// Returns whether the whole path, without its query, is as the pattern says.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let Some(path) = path.strip_prefix('/') else { return false };
        let mut parts = path.split('/');
        for segment in &self.segments {
            if !parts.next().is_some_and(|part| segment.matches(part)) {
                return false;
            }
        }
        self.open || parts.next().is_none()
    }

    /// Returns whether each path that the other pattern matches is matched by this one.
    ///
    /// # Examples
    ///
    /// ```
    /// # use gax_retry::http as gax_http;
    /// use gax_http::PathPattern;
    ///
    /// let all: PathPattern = "/v1/**".parse()?;
    /// let cancel: PathPattern = "/v1/{name=jobs/*}:cancel".parse()?;
    /// assert!(all.covers(&cancel) && !cancel.covers(&all));
    /// # Ok::<(), gax_retry::http::PatternError>(())
    /// ```
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let (own, others) = (&self.segments, &other.segments);
        let has_room = if self.open { own.len() <= others.len() } else { own.len() == others.len() };
        has_room
            && (self.open || !other.open)
            && own.iter().zip(others).all(|(segment, other)| segment.covers(other))
    }
}

impl Segment {
    fn matches(&self, part: &str) -> bool {
        let part = decoded(part);
        match self {
            Segment::Literal(literal) => **literal == *part,
            Segment::Variable { prefix, suffix } => part
                .strip_prefix(prefix.as_slice())
                .and_then(|rest| rest.strip_suffix(suffix.as_slice()))
                .is_some_and(|value| !value.is_empty()),
        }
    }

    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Segment::Literal(own), Segment::Literal(other)) => own == other,
            (Segment::Literal(_), Segment::Variable { .. }) => false,
            (Segment::Variable { prefix, suffix }, Segment::Literal(other)) => {
                let value = other
                    .strip_prefix(prefix.as_slice())
                    .and_then(|rest| rest.strip_suffix(suffix.as_slice()));
                value.is_some_and(|value| !value.is_empty())
            }
            (Segment::Variable { prefix, suffix }, Segment::Variable { prefix: start, suffix: end }) => {
                start.starts_with(prefix) && end.ends_with(suffix)
            }
        }
    }
}

/// The bytes behind a percent-encoding; a `%` that begins none stands for itself.
pub(super) fn decoded(text: &str) -> Cow<'_, [u8]> {
    if !text.contains('%') {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let encoded = match after {
            [high, low, ..] if first == b'%' => hex(*high).zip(hex(*low)),
            _ => None,
        };
        if let Some((high, low)) = encoded {
            bytes.push(high << 4 | low);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    Cow::Owned(bytes)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

impl FromStr for PathPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = |reason| PatternError { text: text.to_owned(), reason };
        let flat = flattened(text).ok_or_else(|| wrong("a brace has no counterpart"))?;
        if flat.contains(['?', '#']) {
            return Err(wrong("a path ends before ? and #; the query is not matched"));
        }
        let path = flat.strip_prefix('/').ok_or_else(|| wrong("a path begins with a slash"))?;
        let (path, open) = match path.strip_suffix("**") {
            Some("") => (None, true),
            Some(before) => {
                (Some(before.strip_suffix('/').ok_or_else(|| wrong("** must be a whole segment"))?), true)
            }
            None => (Some(path), false),
        };
        let mut segments = Vec::new();
        for part in path.into_iter().flat_map(|path| path.split('/')) {
            if part.contains("**") {
                return Err(wrong("** comes last"));
            }
            segments.push(match part.split_once('*') {
                None => Segment::Literal(decoded(part).into_owned()),
                Some((_, suffix)) if suffix.contains('*') => {
                    return Err(wrong("a segment holds one variable at most"));
                }
                Some((prefix, suffix)) => {
                    let [prefix, suffix] = [prefix, suffix].map(|part| decoded(part).into_owned());
                    Segment::Variable { prefix, suffix }
                }
            });
        }
        Ok(Self { text: text.to_owned(), segments, open })
    }
}

/// The pattern with `{name}` as `*` and `{name=inner}` as its inner pattern.
fn flattened(text: &str) -> Option<String> {
    let mut flat = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (variable, after) = after.split_once('}')?;
        if before.contains('}') || variable.contains('{') {
            return None;
        }
        flat.push_str(before);
        flat.push_str(variable.split_once('=').map_or("*", |(_, inner)| inner));
        rest = after;
    }
    if rest.contains('}') {
        return None;
    }
    flat.push_str(rest);
    Some(flat)
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// A text that isn't a [`PathPattern`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    text: String,
    reason: &'static str,
}

gax_text::error_text! { PatternError { text, reason }, "{text:?} is not a pattern for paths: {reason}" }

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> PathPattern {
        text.parse().unwrap()
    }

    #[test]
    fn segments_are_matched_one_by_one() {
        let objects = pattern("/b/{bucket}/o/{object}");
        for (path, expected) in [
            ("/b/x/o/y", true),
            ("/b/x/o/a%2Fb", true),
            ("/%62/x/o/y", true),
            ("/b/x/o/", false),
            ("/b//o/y", false),
            ("/b/x/o/y/", false),
            ("/b/x/o/y/acl", false),
            ("b/x/o/y", false),
            ("", false),
            ("/b/x/o/%", true),
            ("/b/x/o/%zz", true),
        ] {
            assert_eq!(objects.matches(path), expected, "{path}");
        }
    }

    #[test]
    fn inner_patterns_verbs_and_the_rest() {
        let failover = pattern("/v1/{name=projects/*/locations/*/instances/*}:failover");
        assert!(failover.matches("/v1/projects/p/locations/l/instances/i:failover"));
        assert!(!failover.matches("/v1/projects/p/locations/l/instances/:failover"));
        assert!(!failover.matches("/v1/projects/p/locations/l/instances/i:export"));
        let all = pattern("/{path=**}");
        assert!(all.matches("/") && all.matches("/a/b"));
        assert!(pattern("/v1/**").matches("/v1/a/b"));
        assert!(!pattern("/v1/**").matches("/v2/a"));
    }

    #[test]
    fn both_may_be_percent_encoded() {
        for (pattern, path, expected) in [
            ("/a%20b", "/a%20b", true),
            ("/a b", "/a%20b", true),
            ("/%C3%A4", "/ä", true),
            ("/ä", "/%c3%a4", true),
            ("/%FF", "/%ff", true),
            ("/a%2Fb", "/a%2fb", true),
            ("/a%2Fb", "/a/b", false),
            ("/{a}%3Apay", "/7:pay", true),
            ("/100%", "/100%25", true),
            ("/%252F", "/%252F", true),
            ("/%252F", "/%2F", false),
        ] {
            assert_eq!(self::pattern(pattern).matches(path), expected, "{pattern} {path}");
        }
        assert!(pattern("/a%20b").covers(&pattern("/a b")));
    }

    #[test]
    fn a_pattern_covers_another_if_it_matches_all_of_its_paths() {
        for (one, other, expected) in [
            ("/v1/**", "/v1/{name=jobs/*}:cancel", true),
            ("/v1/**", "/v1/**", true),
            ("/v1/**", "/v1", true),
            ("/**", "/", true),
            ("/{path=**}", "/a", true),
            ("/v1", "/v1/**", false),
            ("/v1/*", "/v1/**", false),
            ("/v1/*", "/v1/jobs", true),
            ("/v1/{a}", "/v1/{b}", true),
            ("/v1/{a}", "/v1/{b}:cancel", true),
            ("/v1/{a}:cancel", "/v1/{b}", false),
            ("/v1/{a}:cancel", "/v1/job:cancel", true),
            ("/v1/{a}:cancel", "/v1/:cancel", false),
            ("/v1/a", "/v1/a/b", false),
            ("/v1/a", "/v1/{a}", false),
            ("/v1/jobs/**", "/v1/things/**", false),
        ] {
            assert_eq!(pattern(one).covers(&pattern(other)), expected, "{one} {other}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_the_reason() {
        for (text, reason) in [
            ("b", "a path begins with a slash"),
            ("/{a", "a brace has no counterpart"),
            ("/a}", "a brace has no counterpart"),
            ("/**/a", "** comes last"),
            ("/a**", "** must be a whole segment"),
            ("/{a}-{b}", "a segment holds one variable at most"),
            ("/a?b=c", "a path ends before ? and #; the query is not matched"),
            ("/a#b", "a path ends before ? and #; the query is not matched"),
        ] {
            let error = text.parse::<PathPattern>().unwrap_err();
            assert_eq!(error.to_string(), format!("{text:?} is not a pattern for paths: {reason}"));
        }
    }
}
