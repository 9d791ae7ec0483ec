//! Path templates of REST, and the patterns that rules of HTTP requests have.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

use super::canned::{Pieces, timed};
use super::rest::{call, options};
use gax_http::{HostPattern, PathPattern};
use gax_rest::HttpRule;
use gax_table::{PathGrammar, PathTemplate};
use http::Response;
use http::uri::Authority;
use std::sync::{Arc, Mutex};
use tonic::Code;

/// A template in the first line, a value in the second: a template is read the same when it is written again, and a request by it has
/// the template's segments and no others, whatever the value is.
pub(super) fn templates(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (template, value) = text.split_once('\n').unwrap_or((&text, "a"));
    for grammar in [PathGrammar::Http, PathGrammar::Routing] {
        match PathTemplate::parse(template, grammar) {
            Ok(read) => {
                let again = PathTemplate::parse(&written(&read, grammar), grammar);
                assert_eq!(again.as_ref(), Ok(&read));
            }
            Err(error) => assert!(error.to_string().contains("character"), "{error}"),
        }
    }
    if let Ok(pattern) = template.parse::<PathPattern>() {
        let _matches = pattern.matches(value);
        assert!(pattern.covers(&pattern), "{pattern:?}");
    }
    if let Ok(pattern) = template.parse::<HostPattern>() {
        let _matches = pattern.matches(value);
        assert!(pattern.covers(&pattern), "{pattern:?}");
    }
    request(template, value);
}

fn written(template: &PathTemplate, grammar: PathGrammar) -> String {
    let mut segments = template.segments().to_vec();
    for variable in template.variables() {
        let range = variable.segments();
        segments[range.start] = format!("{{{}={}", variable.field(), segments[range.start]);
        segments[range.end - 1].push('}');
    }
    let verb = template.verb().map(|verb| format!(":{verb}")).unwrap_or_default();
    let start = if grammar == PathGrammar::Http { "/" } else { "" };
    format!("{start}{}{verb}", segments.join("/"))
}

/// A request with the value as the field `text`, by a rule with the template.
fn request(template: &str, value: &str) {
    let Ok(read) = PathTemplate::parse(template, PathGrammar::Http) else { return };
    let options = options().rule("fuzz.Fuzz.One", HttpRule::get(template));
    let sent = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&sent);
    let called = call(options, "One", value, move |request, _| {
        *seen.lock().unwrap() = Some(request.uri.clone());
        Response::new(Pieces::new("{}"))
    });
    let Some(outcome) = timed(called).0 else { return };
    let uri = sent.lock().unwrap().take();
    assert_eq!(uri.is_some(), outcome.code == Code::Ok, "{template:?} {value:?}: {outcome:?} {uri:?}");
    let Some(uri) = uri else { return };
    assert_eq!(uri.authority().map(Authority::as_str), Some("fuzz.test"), "{uri}");
    let segments: Vec<_> = uri.path().trim_start_matches('/').split('/').collect();
    if !read.segments().iter().any(|segment| segment == "**") {
        assert_eq!(segments.len(), read.segments().len(), "{template:?} {value:?}: {uri}");
    }
    // A template is the program's own.
    let is_dots = |segment: &&str| matches!(*segment, "." | "..");
    if !read.segments().iter().any(|segment| is_dots(&segment.as_str())) {
        assert!(!segments.iter().any(is_dots), "{template:?} {value:?}: {uri}");
    }
}
