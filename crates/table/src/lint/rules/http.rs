//! HTTP requests: rules that no request reaches, statuses that are no use to retry, retries that are unsafe or never follow.

use super::codes;
use super::numbers::{backoff, limits, load};
use crate::lint::report::{Place, Report};
use crate::lint::rule::declare;
use crate::lint::subject::{EntryView, Subject};
use crate::model::HttpSection;
use crate::{Finding, HttpTable, PolicyField, SourceLocation};
use gax_retry::http::{IdempotencyRule, OperationClass};

declare! {
    SHADOWED: "shadowed-http-rule", Warning, Table,
        "a rule whose requests are all matched by an earlier rule",
        "Move the rule before the other one, or remove it.";
    WITH_PREFIX: "http-rule-with-prefix", Warning, Table,
        "a rule whose path starts with a prefix, which is removed before rules are matched",
        "Write the path without the prefix.";
    UNSAFE: "unsafe-http-retry", Warning, Table,
        "a POST or PATCH that is always retried",
        "Make it safe by an Idempotency-Key or a precondition.";
    NEVER_SAFE: "http-retry-without-effect", Note, Table,
        "retry settings for HTTP requests that are never safe to retry",
        "Say what makes the requests safe, or leave the settings out.";
    HEDGING_WITHOUT_EFFECT: "http-hedging-without-effect", Warning, Table,
        "hedging of HTTP requests that may not run twice at once",
        "Write hedgeable = true if they may, or leave the hedging out.";
    PERMANENT_STATUS: "permanent-status", Warning, Table,
        "an HTTP status is retried although the same request gets it again",
        "Leave the status out.";
    UNASSIGNED_STATUS: "unassigned-status", Note, Table,
        "an HTTP status is retried that no standard defines and no well-known server sends",
        "Correct the status, or leave it out.";
    LITERAL_PATTERN: "http-path-taken-literally", Warning, Table,
        "a path in the notation of another library, or with what no URL has",
        "Write {name} for one segment, ** at the end for all that follows, and %20 for a space.";
    UNKNOWN_METHOD: "unknown-http-method", Warning, Table,
        "a rule for a method that HTTP doesn't have",
        "Correct the method.";
    RETRY_AFTER_IGNORED: "retry-after-ignored", Warning, Table,
        "429 or 503 is retried, and the server's Retry-After is ignored",
        "Leave retry_after out.";
    HEDGED_DELETE: "hedged-delete", Warning, Table,
        "a DELETE that is hedged: the second copy may remove something else, or find nothing",
        "Retry the request instead of hedging it.";
}

/// The methods of RFC 9110, RFC 5789 and `WebDAV`.
const METHODS: [&str; 19] = [
    "*",
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "CONNECT",
    "OPTIONS",
    "TRACE",
    "PATCH",
    "PROPFIND",
    "PROPPATCH",
    "MKCOL",
    "COPY",
    "MOVE",
    "LOCK",
    "UNLOCK",
    "SEARCH",
    "REPORT",
];

/// Statuses that say something about the request, or about what the server is made for.
const PERMANENT: [u16; 29] = [
    400, 401, 402, 403, 404, 405, 406, 407, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 424, 426, 428,
    431, 451, 501, 505, 506, 508, 510, 511,
];

/// Statuses outside of IANA's registry that well-known servers and proxies have.
const CUSTOMARY: [u16; 30] = [
    418, 419, 420, 430, 440, 444, 449, 450, 460, 463, 494, 495, 496, 497, 498, 499, 509, 520, 521, 522, 523,
    524, 525, 526, 527, 529, 530, 561, 598, 599,
];

/// Settings that are about retries alone.
const OF_RETRIES: [&str; 7] = [
    "statuses",
    "failures",
    "retry_after",
    "max_attempts",
    "initial_retry_delay",
    "retry_delay_multiplier",
    "max_retry_delay",
];

pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let Some(http) = subject.table.http() else { return };
    settings(subject, http, &http.defaults, report);
    for section in &http.own {
        let all = http.idempotency().rules();
        let Some(place) = all.iter().position(|rule| rule.name() == &*section.name) else { continue };
        let (before, own) = all.split_at(place);
        if let Some(own) = own.first() {
            reach(http, section, own, before, report);
            safety(http, section, own, report);
            notation(section, own, report);
        }
        settings(subject, http, section, report);
    }
}

/// Returns whether any request gets to a rule.
fn reach(
    http: &HttpTable,
    section: &HttpSection,
    own: &IdempotencyRule,
    before: &[IdempotencyRule],
    report: &mut Report,
) {
    let path = own.path().to_string();
    let prefix = http.idempotency().prefixes().find(|prefix| {
        path.strip_prefix(*prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if let Some(prefix) = prefix {
        let message = format!("{prefix:?} is a prefix, which is removed before rules are matched");
        let rest = path.get(prefix.len()..).filter(|rest| !rest.is_empty()).unwrap_or("/");
        report.add(&WITH_PREFIX, at(section, "path"), message, format!("write path = {rest:?}"));
    }
    if let Some(other) = before.iter().find(|other| other.shadows(own)) {
        let place = http.own.iter().find(|section| *section.name == *other.name());
        let place = place.map_or_else(String::new, |section| format!(" (at {})", section.origin));
        let message = format!("no request reaches this rule: {:?}{place} matches them all", other.name());
        report.add(&SHADOWED, at(section, "name"), message, "move it before that one, or remove it");
    }
}

/// Retries that are unsafe, and those that never follow.
fn safety(http: &HttpTable, section: &HttpSection, own: &IdempotencyRule, report: &mut Report) {
    let method = own.method();
    let is_written = |class| section.origins.iter().any(|(name, _)| *name == class);
    if own.class() == &OperationClass::Always && *own.class() != OperationClass::of_method(method) {
        let what = if method == "*" { "any request".to_owned() } else { format!("a {method}") };
        let message = format!("{what} is always retried");
        let help = "write if_any = [{ header = \"Idempotency-Key\" }] if the server carries out each key once, or allow it for \
                    requests that change nothing";
        report.add(&UNSAFE, at(section, "class"), message, help);
    }
    let policy = section.policy();
    let says = |names: &[&str]| section.written.iter().any(|member| names.contains(&&*member.key));
    let retries = policy.is_some_and(|policy| !policy.policy().codes().is_empty());
    if own.class() == &OperationClass::Never && retries && says(&OF_RETRIES) && !is_written("class") {
        let message = format!("a {method} is never safe to retry, unless no server can have carried it out");
        let help = "write if_any = [{ header = \"Idempotency-Key\" }] if the server carries out each key once, or class = \"never\" \
                    if that is meant";
        report.add(&NEVER_SAFE, at(section, "method"), message, help);
    }
    let hedges = |section: &HttpSection| {
        section
            .policy()
            .is_some_and(|policy| policy.policy().hedging().is_some() || policy.hedging().is_some())
    };
    if method == "DELETE" && own.is_hedgeable() == Some(true) && (hedges(section) || hedges(&http.defaults)) {
        let message = "a DELETE is hedged: the second copy may remove something else, or find nothing";
        report.add(&HEDGED_DELETE, at(section, "hedgeable"), message, "retry it instead of hedging it");
    }
    let may_run_twice = match own.is_hedgeable() {
        Some(word) => word,
        None => matches!(method, "GET" | "HEAD" | "OPTIONS" | "*"),
    };
    if says(&["hedging"]) && (!may_run_twice || own.class() == &OperationClass::Never) {
        let place = policy.and_then(|policy| policy.policy().origin_of(PolicyField::Hedging));
        let message = format!("nothing says that a {method} may run twice at once, so it is not hedged");
        let help = "write hedgeable = true if the server treats two copies as one, or leave the hedging out";
        report.add(&HEDGING_WITHOUT_EFFECT, Place::of(place), message, help);
    }
}

/// Methods and paths that no request has, though some may have been meant.
fn notation(section: &HttpSection, own: &IdempotencyRule, report: &mut Report) {
    if !METHODS.contains(&own.method()) {
        let advice = gax_text::closest(own.method(), METHODS);
        let help = advice.map_or_else(|| "correct it".to_owned(), |name| format!("did you mean {name}?"));
        let message = format!("{:?} is not an HTTP method", own.method());
        report.add(&UNKNOWN_METHOD, at(section, "method"), message, help);
    }
    let path = own.path().to_string();
    let mut segments = path.split('/').skip(1);
    let odd = segments
        .clone()
        .find(|segment| is_pattern(segment))
        .map(|segment| format!("{segment:?} has no meaning in a path: it matches only itself"));
    if let Some(bad) = segments.clone().find_map(unencoded) {
        let message = format!("no request has {bad:?} in its path");
        let help = "write it as in a URL, such as %20 for a space and %25 for a %";
        report.add(&LITERAL_PATTERN, at(section, "path"), message, help);
    }
    let has_gap = segments.any(str::is_empty) && !path.ends_with('/') || path.contains("//");
    let gap = || has_gap.then(|| "an empty segment matches only an empty one".to_owned());
    if let Some(message) = odd.or_else(gap) {
        let help = "write {name} or * for one segment, and ** at the end for all that follows";
        report.add(&LITERAL_PATTERN, at(section, "path"), message, help);
    }
}

/// Returns whether a segment is in another library's notation: `:id`, `[0-9]+`, `*.json`, `(.:format)`, `$`.
fn is_pattern(segment: &str) -> bool {
    let literal: String = {
        // What stands in braces is a variable, also in OData's `things({id})` and `things(key='{key}')`.
        let parts = segment.split('{').map(|part| part.split_once('}').map_or(part, |(_, after)| after));
        parts.collect()
    };
    // `$count` and `$metadata` are names; so are the brackets of a call without anything to match in them.
    let group = literal.split_once('(').map_or("", |(_, rest)| rest);
    literal.starts_with(':')
        || literal.contains(['[', ']', '^', '|', '\\'])
        || literal.ends_with('$')
        || group.contains([':', '?', '*', '+', '.', '('])
        || literal.contains('(') != literal.contains(')')
        || segment == literal && literal.contains('*') && !literal.trim_matches('*').is_empty()
}

/// Returns what no URL has in a path: a space or another character that has to be encoded, or a `%` that begins no byte.
fn unencoded(segment: &str) -> Option<&str> {
    let is_hex =
        |at: usize| segment.get(at..at + 2).is_some_and(|hex| hex.bytes().all(|c| c.is_ascii_hexdigit()));
    let (at, bad) = segment.char_indices().find(|(at, c)| match c {
        '%' => !is_hex(at + 1),
        c => c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '`'),
    })?;
    let end = if bad == '%' { segment.len().min(at + 3) } else { at + bad.len_utf8() };
    segment.get(at..end).or(segment.get(at..))
}

/// The settings of `[http]`, or those that a rule has itself.
fn settings(subject: &Subject<'_>, http: &HttpTable, section: &HttpSection, report: &mut Report) {
    let Some(entry) = section.policy.as_deref().filter(|_| !section.written.is_empty()) else { return };
    let fields = &entry.fields;
    let mut found = Report::default();
    for (status, origin) in &fields.status_origins {
        self::status(*status, origin, &mut found);
    }
    let busy = [429, 503].into_iter().find(|status| fields.statuses.contains(*status));
    if let (Some(false), Some(busy)) = (fields.retry_after, busy) {
        let message = format!("{busy} is retried, and the server's Retry-After is ignored");
        let help = "leave retry_after out: a busy server says when to retry";
        found.add(&RETRY_AFTER_IGNORED, Place::of(fields.retry_after_origin.as_ref()), message, help);
    }
    if let Some(policy) = section.policy() {
        let view = EntryView { policy: policy.policy(), names: Vec::new() };
        limits::check_http(subject, &view, &mut found);
        backoff::delays_of(subject, &view, &mut found);
        load::hedging(subject, &view, &mut found);
        codes::only_with_server_delay(subject, &view, &mut found);
    }
    let name = if section.name.is_empty() { "http".to_owned() } else { format!("http {}", section.name) };
    let inherits = !section.name.is_empty() && http.defaults.policy.is_some();
    // Findings about inherited values are made where these stand.
    let is_own = |finding: &Finding| {
        let is_inside = |place: &SourceLocation| section.extent.contains(&place.span().start);
        finding.origin().is_none_or(is_inside) && !(inherits && finding.rule() == "no-timeout")
    };
    let findings = found.into_findings().into_iter().filter(is_own);
    report.extend(findings.map(|finding| finding.about(name.as_str())));
}

fn status(status: u16, origin: &SourceLocation, report: &mut Report) {
    if PERMANENT.contains(&status) {
        let help = "leave it out: the same request gets the same response";
        report.add(&PERMANENT_STATUS, Place::of(Some(origin)), format!("{status} is retried"), help);
    } else if !is_assigned(status) && !CUSTOMARY.contains(&status) {
        let message = format!("{status} is not a status of any standard or well-known server");
        report.add(&UNASSIGNED_STATUS, Place::of(Some(origin)), message, "correct it, or leave it out");
    }
}

/// Returns whether IANA's registry of HTTP statuses has it.
fn is_assigned(status: u16) -> bool {
    matches!(status, 400..=417 | 421..=426 | 428 | 429 | 431 | 451 | 500..=508 | 510 | 511)
}

/// A field of a rule or, where the rule does not have it, its name.
fn at<'a>(section: &'a HttpSection, field: &str) -> Place<'a> {
    let own = section.origins.iter().find(|(name, _)| *name == field).map(|(_, origin)| origin);
    Place::named(own.unwrap_or(&section.origin), format!("http {}", section.name))
}
