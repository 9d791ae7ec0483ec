//! Findings for services that review code.

use super::report::Report;
use crate::command::pretty_json;
use crate::failure::Failure;
use crate::render::{self, Notice, NoticePlace, NoticeRule};
use gax_table::lint::rules;

/// Where each rule has its section.
const PAGE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/src/lint.md");

pub(super) fn sarif(report: &Report<'_>) -> Result<String, Failure> {
    let rules = rules().map(|rule| NoticeRule {
        id: rule.id(),
        severity: rule.severity(),
        summary: rule.summary(),
        help: rule.advice(),
        page: format!("{PAGE}#{}", rule.id()),
    });
    pretty_json(&render::sarif("gax table lint", &rules.collect::<Vec<_>>(), &notices(report)))
}

pub(super) fn github(report: &Report<'_>) -> String {
    render::github(&notices(report))
}

fn notices<'a>(report: &'a Report<'a>) -> Vec<Notice<'a>> {
    let notices = report.printed().map(|finding| {
        let place = report.files.place(finding).filter(|place| place.file.input.name != "<stdin>");
        Notice {
            rule: finding.rule(),
            severity: finding.severity(),
            text: match finding.help() {
                Some(help) => format!("{}; {help}", finding.message()),
                None => finding.message().to_owned(),
            },
            place: place.map(|place| NoticePlace {
                file: &place.file.input.name,
                start: place.start,
                end: Some(place.end),
            }),
            name: finding.name(),
        }
    });
    notices.collect()
}
