//! Paths of requests, by the template of their rule.

use crate::request::field_path::FieldPath;
use crate::request::scalar;
use gax_http::__private::has_dots;
use gax_table::{PathGrammar, PathTemplate};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use prost_reflect::{DynamicMessage, MessageDescriptor};
use std::ops::Range;

/// Letters, digits and these are what no URI has to encode.
pub(super) const ALL_BUT_UNRESERVED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const ALL_BUT_UNRESERVED_AND_SLASHES: &AsciiSet = &ALL_BUT_UNRESERVED.remove(b'/');
/// A template is written by hand, and may have what a path may.
const NOT_IN_PATHS: &AsciiSet = &ALL_BUT_UNRESERVED_AND_SLASHES
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'+')
    .remove(b',')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');

/// A template whose variables are fields of a message.
#[derive(Debug, Clone)]
pub(super) struct BoundPath {
    template: PathTemplate,
    variables: Vec<Variable>,
}

#[derive(Debug, Clone)]
struct Variable {
    field: FieldPath,
    segments: Range<usize>,
}

/// Why a request has no such path.
#[derive(Debug)]
pub(super) struct Mismatch(pub(super) String);

impl BoundPath {
    pub(super) fn new(template: &str, message: &MessageDescriptor) -> Result<Self, String> {
        let template = PathTemplate::parse(template, PathGrammar::Http).map_err(|error| error.to_string())?;
        let variable = |variable: &gax_table::PathVariable| {
            Ok(Variable { field: FieldPath::new(variable.field(), message)?, segments: variable.segments() })
        };
        let variables: Vec<Variable> =
            template.variables().iter().map(variable).collect::<Result<_, String>>()?;
        let is_bound = |place: usize| variables.iter().any(|variable| variable.segments.contains(&place));
        let mut segments = template.segments().iter().enumerate();
        if segments.any(|(place, segment)| segment.starts_with('*') && !is_bound(place)) {
            return Err("its path has a * without a field, so that requests have no value for it".to_owned());
        }
        Ok(Self { template, variables })
    }

    /// The fields that are in the path.
    pub(super) fn fields(&self) -> impl Iterator<Item = &FieldPath> {
        self.variables.iter().map(|variable| &variable.field)
    }

    /// The path of a request. `is_forced`: also if a value does not fit its variable.
    pub(super) fn expand(&self, message: &DynamicMessage, is_forced: bool) -> Result<String, Mismatch> {
        let (mut path, mut place) = (String::new(), 0);
        let segments = self.template.segments();
        while let Some(segment) = segments.get(place) {
            path.push('/');
            let variable = self.variables.iter().find(|variable| variable.segments.start == place);
            if let Some(variable) = variable {
                let pattern = segments.get(variable.segments.clone()).unwrap_or_default();
                path.push_str(&variable.expand(pattern, message, is_forced)?);
                place = variable.segments.end;
            } else {
                path.extend(utf8_percent_encode(segment, NOT_IN_PATHS));
                place += 1;
            }
        }
        if let Some(verb) = self.template.verb() {
            path.push(':');
            path.extend(utf8_percent_encode(verb, NOT_IN_PATHS));
        }
        Ok(path)
    }
}

impl Variable {
    fn expand(
        &self,
        pattern: &[String],
        message: &DynamicMessage,
        is_forced: bool,
    ) -> Result<String, Mismatch> {
        let field = self.field.name();
        let value = self.field.value(message);
        let text = value.and_then(|value| scalar::text(&value, &self.field.leaf().kind()));
        let text = text.transpose().map_err(Mismatch)?.unwrap_or_default();
        if has_dots(&text) {
            return Err(Mismatch(format!("{field} is {text:?}, which has a segment of only dots")));
        }
        let is_one_segment = matches!(pattern, [only] if only == "*");
        let fits =
            if is_one_segment { !text.is_empty() } else { !text.starts_with('/') && matches(pattern, &text) };
        if !fits && !is_forced {
            let pattern = pattern.join("/");
            return Err(Mismatch(match text.as_str() {
                "" => format!("{field} is empty, where the path needs {pattern}"),
                text => format!("{field} is {text:?}, which is not {pattern}"),
            }));
        }
        let encoded = if is_one_segment { ALL_BUT_UNRESERVED } else { ALL_BUT_UNRESERVED_AND_SLASHES };
        Ok(utf8_percent_encode(&text, encoded).to_string())
    }
}

/// Returns whether a value has the segments of a pattern.
fn matches(pattern: &[String], text: &str) -> bool {
    let mut segments = text.split('/');
    for wanted in pattern {
        if wanted == "**" {
            return true;
        }
        match segments.next() {
            Some(segment) if wanted == "*" && !segment.is_empty() => {}
            Some(segment) if wanted == segment => {}
            _ => return false,
        }
    }
    segments.next().is_none()
}
