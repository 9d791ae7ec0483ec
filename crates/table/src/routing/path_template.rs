//! Path templates, as `google.api.http` and `google.api.routing` have them.

use super::error::RoutingError;
use std::ops::Range;

/// The annotation that contains a path template: their grammars differ slightly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathGrammar {
    /// `google.api.http`: begins with a slash, may end in `:verb`, and has `**` only at its end.
    Http,
    /// `path_template` of `google.api.routing`: has neither slash nor verb, and `**` anywhere.
    Routing,
}

/// A path template, such as `/v1/{parent=projects/*}/books:search`.
///
/// A segment is text, `*` (one segment that isn't empty), or `**` (any number of segments, also none). A variable,
/// `{field=segments}`, names a field of the request by its path; `{field}` is short for `{field=*}`.
///
/// # Examples
///
/// ```
/// use gax_table::{PathGrammar, PathTemplate};
///
/// let template = PathTemplate::parse("/v1/{book.name=shelves/*/books/*}:lend", PathGrammar::Http)?;
/// assert_eq!(template.segments(), ["v1", "shelves", "*", "books", "*"]);
/// assert_eq!(template.variables()[0].field(), "book.name");
/// assert_eq!(template.variables()[0].segments(), 1..5);
/// assert_eq!(template.verb(), Some("lend"));
///
/// let error = PathTemplate::parse("/v1/{name=**}/books", PathGrammar::Http).unwrap_err();
/// assert!(error.to_string().contains("has ** before its end (character 11)"), "{error}");
/// # Ok::<(), gax_table::RoutingError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathTemplate {
    segments: Vec<String>,
    variables: Vec<PathVariable>,
    verb: Option<String>,
}

/// A variable of a path template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathVariable {
    field: String,
    segments: Range<usize>,
}

impl PathVariable {
    gax_text::getters! { self:
        /// The path of the request's field, such as `book.name`; of a routing template it is the key.
        pub field: &str = &self.field;

        /// The place of its segments among those of the template.
        pub segments: Range<usize> = self.segments.clone();
    }
}

impl PathTemplate {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// It is not of the grammar. The message has the place.
    pub fn parse(text: &str, grammar: PathGrammar) -> Result<Self, RoutingError> {
        Parser { text, at: 0, grammar, template: Self::empty() }.parse()
    }

    fn empty() -> Self {
        Self { segments: Vec::new(), variables: Vec::new(), verb: None }
    }

    gax_text::getters! { self:
        /// Its segments: texts, `*` and `**`.
        pub segments: &[String] = self.segments.as_slice();

        /// Its variables, from the left.
        pub variables: &[PathVariable] = self.variables.as_slice();

        /// The verb after the last colon, without it.
        pub verb: Option<&str> = self.verb.as_deref();
    }
}

const GRAMMAR: &str = "write segments with slashes between them: text, *, ** or {field=segments}";

struct Parser<'a> {
    text: &'a str,
    /// The byte that is read next.
    at: usize,
    grammar: PathGrammar,
    template: PathTemplate,
}

impl Parser<'_> {
    fn parse(mut self) -> Result<PathTemplate, RoutingError> {
        if self.grammar == PathGrammar::Http && !self.takes('/') {
            return Err(self.error("does not begin with a slash", "put a slash before it"));
        }
        loop {
            if self.takes('{') {
                self.variable()?;
            } else {
                self.segment()?;
            }
            if !self.takes('/') {
                break;
            }
        }
        if self.grammar == PathGrammar::Http && self.takes(':') {
            let verb = self.text_until(&['/', '{', '}', '*', ':']);
            if verb.is_empty() {
                return Err(
                    self.error("has nothing after its colon", "write the verb, or leave the colon out")
                );
            }
            self.template.verb = Some(verb.to_owned());
        }
        if self.at < self.text.len() {
            Err(self.error("ends before this", GRAMMAR))
        } else {
            Ok(self.template)
        }
    }

    /// The rest of a variable, after its brace.
    fn variable(&mut self) -> Result<(), RoutingError> {
        let field = self.text_until(&['=', '}', '{', '/', '*', ':']);
        let is_name = |name: &str| {
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            name.chars().all(is_letter) && name.starts_with(|first: char| !first.is_ascii_digit())
        };
        if !field.split('.').all(is_name) {
            self.at -= field.len();
            return Err(
                self.error("has a variable without a field's name", "name a field, such as {book.name=**}")
            );
        }
        let (field, start) = (field.to_owned(), self.template.segments.len());
        if self.takes('=') {
            loop {
                if self.rest().starts_with('{') {
                    return Err(self.error("has a variable inside another", "close the first one before it"));
                }
                self.segment()?;
                if !self.takes('/') {
                    break;
                }
            }
        } else {
            self.check_stars()?;
            self.template.segments.push("*".to_owned());
        }
        if !self.takes('}') {
            return Err(self.error("has a variable that is not closed", "put a } after its segments"));
        }
        if self.template.variables.iter().any(|variable| variable.field == field) {
            return Err(self.error("has two variables with the same name", "remove one of them"));
        }
        let segments = start..self.template.segments.len();
        self.template.variables.push(PathVariable { field, segments });
        Ok(())
    }

    /// Fails behind a `**`, which has to be the last segment in `google.api.http`.
    fn check_stars(&mut self) -> Result<(), RoutingError> {
        if self.grammar == PathGrammar::Http && self.template.segments.last().is_some_and(|last| last == "**")
        {
            // Its two letters and a slash have been read, and perhaps a brace between them.
            let stars = self.text.get(..self.at).and_then(|before| before.rfind("**"));
            self.at = stars.unwrap_or(self.at);
            return Err(
                self.error("has ** before its end", "google.api.http allows ** only as the last segment")
            );
        }
        Ok(())
    }

    fn segment(&mut self) -> Result<(), RoutingError> {
        self.check_stars()?;
        let text = self.text;
        let start = self.at;
        let segment = if self.takes('*') {
            if self.takes('*') { "**" } else { "*" }
        } else {
            let ends: &[char] = match self.grammar {
                PathGrammar::Http => &['/', '{', '}', '*', ':', '='],
                PathGrammar::Routing => &['/', '{', '}', '*', '='],
            };
            self.text_until(ends);
            text.get(start..self.at).unwrap_or_default()
        };
        if segment.is_empty() {
            return Err(self.error("has no segment here", GRAMMAR));
        }
        let is_over = match self.rest().chars().next() {
            None | Some('/' | '}') => true,
            Some(next) => next == ':' && self.grammar == PathGrammar::Http,
        };
        if !is_over {
            return Err(self.error("has a segment that is partly text, partly something else", GRAMMAR));
        }
        self.template.segments.push(segment.to_owned());
        Ok(())
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn takes(&mut self, wanted: char) -> bool {
        let is_there = self.rest().starts_with(wanted);
        self.at += if is_there { wanted.len_utf8() } else { 0 };
        is_there
    }

    fn text_until(&mut self, ends: &[char]) -> &str {
        let start = self.at;
        let length = self.rest().find(ends).unwrap_or(self.rest().len());
        self.at += length;
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn error(&self, problem: &str, help: &str) -> RoutingError {
        RoutingError::of_template(self.text, self.at, problem, help)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The template with its variables' segments in braces, as they were read.
    fn read(text: &str, grammar: PathGrammar) -> String {
        let template = match PathTemplate::parse(text, grammar) {
            Ok(template) => template,
            Err(error) => return error.to_string(),
        };
        let mut read: Vec<String> = template.segments().to_vec();
        for variable in template.variables() {
            let segments = variable.segments();
            read[segments.start] = format!("{{{}={}", variable.field(), read[segments.start]);
            read[segments.end - 1].push('}');
        }
        let verb = template.verb().map(|verb| format!(":{verb}")).unwrap_or_default();
        format!("{}{verb}", read.join("/"))
    }

    #[test]
    fn templates_are_read() {
        use PathGrammar::{Http, Routing};
        for (grammar, text, expected) in [
            (Http, "/v1/{parent=*/*}:exportAssets", "v1/{parent=*/*}:exportAssets"),
            (Http, "/v1/{feed.name=*/*/feeds/*}", "v1/{feed.name=*/*/feeds/*}"),
            (Http, "/v1/{name}", "v1/{name=*}"),
            (Http, "/v1/{a}/{b=**}:go", "v1/{a=*}/{b=**}:go"),
            (Http, "/v2/entries:write", "v2/entries:write"),
            (Http, "/v1/a/**", "v1/a/**"),
            (Routing, "{table_location=instances/*}/tables/*", "{table_location=instances/*}/tables/*"),
            (Routing, "{routing_id=**}", "{routing_id=**}"),
            (Routing, "**", "**"),
            (Routing, "projects/**/{x=instances/*}/**", "projects/**/{x=instances/*}/**"),
            (Routing, "{a}/b:c", "{a=*}/b:c"),
        ] {
            assert_eq!(read(text, grammar), expected);
        }
    }

    #[test]
    fn what_is_no_template_has_an_error_with_its_place() {
        use PathGrammar::{Http, Routing};
        for (grammar, text, problem) in [
            (Http, "v1/a", "does not begin with a slash (character 1)"),
            (Http, "", "does not begin with a slash (character 1)"),
            (Http, "/", "has no segment here (character 2)"),
            (Http, "/v1//a", "has no segment here (character 5)"),
            (Http, "/v1/{name=**}/a", "has ** before its end (character 11)"),
            (Http, "/v1/**/a", "has ** before its end (character 5)"),
            (Http, "/v1/**/{a}", "has ** before its end (character 5)"),
            (Http, "/v1/a:", "has nothing after its colon (character 7)"),
            (Http, "/v1/a:b:c", "ends before this (character 8)"),
            (Http, "/v1/{name=a", "has a variable that is not closed (character 12)"),
            (Http, "/v1/{=a}", "has a variable without a field's name (character 6)"),
            (Http, "/v1/{1a}", "has a variable without a field's name (character 6)"),
            (Http, "/v1/{a..b}", "has a variable without a field's name (character 6)"),
            (Http, "/v1/{a={b}}", "has a variable inside another (character 8)"),
            (Http, "/v1/{a}/{a}", "has two variables with the same name (character 12)"),
            (Http, "/v1/{a}b", "ends before this (character 8)"),
            (Http, "/v1/a{b}", "has a segment that is partly text, partly something else (character 6)"),
            (Http, "/v1/***", "has a segment that is partly text, partly something else (character 7)"),
            (Routing, "", "has no segment here (character 1)"),
            (Routing, "/a", "has no segment here (character 1)"),
            (Routing, "a/", "has no segment here (character 3)"),
            (Routing, "é/a*", "has a segment that is partly text, partly something else (character 4)"),
            (Routing, "a}", "ends before this (character 2)"),
        ] {
            assert_eq!(read(text, grammar), format!("the path template {text:?} {problem}"));
        }
    }
}
