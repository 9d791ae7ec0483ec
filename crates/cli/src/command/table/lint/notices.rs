//! Findings for services that review code.

use super::report::Report;
use crate::command::{print_pretty_json, stream};
use crate::failure::Failure;
use crate::render::{self, Notice, NoticePlace, NoticeRule};
use gax_table::lint::{page, rules};

/// The folder of the guide's pages.
const GUIDE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/src");

/// The log of a run.
pub(super) fn sarif(report: &Report<'_>) -> Result<(), Failure> {
    let rules: Vec<NoticeRule<'_>> = rules()
        .map(|rule| NoticeRule {
            id: rule.id(),
            severity: rule.severity(),
            summary: rule.summary(),
            help: rule.advice(),
            page: format!("{GUIDE}/{}#{}", page(rule), rule.id()),
        })
        .collect();
    print_pretty_json(&render::sarif("gax table lint", &rules, notices(report)))
}

/// A line for each finding.
pub(super) fn github(report: &Report<'_>) -> Result<(), Failure> {
    stream(|out| Ok(render::github(notices(report), out)?))
}

fn notices<'a>(report: &'a Report<'a>) -> impl Iterator<Item = Notice<'a>> + Clone {
    report.printed().map(|finding| {
        let place = report.files.place(finding).filter(|place| place.file != "<stdin>");
        Notice {
            rule: finding.rule(),
            severity: finding.severity(),
            text: match finding.help() {
                Some(help) => format!("{}; {help}", finding.message()),
                None => finding.message().to_owned(),
            },
            place: place.map(|place| NoticePlace {
                file: place.file,
                start: place.start,
                end: Some(place.end),
            }),
            name: finding.name(),
        }
    })
}
