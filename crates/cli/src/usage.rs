//! An error of clap's about flags, in one sentence.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use gax_text::closest;
use std::error::Error as _;

/// The sentence: the flag, its value, what is wrong, what to do.
pub(crate) fn sentence(error: &Error) -> String {
    let text = |kind| error.get(kind).map(plain).unwrap_or_default();
    let flag = flag_of(&text(ContextKind::InvalidArg));
    let value = text(ContextKind::InvalidValue);
    match error.kind() {
        ErrorKind::ValueValidation => {
            let reason = error.source().map(ToString::to_string).unwrap_or_default();
            format!("{flag} {value:?} {reason}")
        }
        ErrorKind::InvalidValue if value.is_empty() => format!("{flag} needs a value; see --help"),
        ErrorKind::InvalidValue => {
            let known = text(ContextKind::ValidValue);
            let advice = match closest(&value, known.split(", ")) {
                Some(close) => format!("did you mean {close}?"),
                None => format!("write one of {known}"),
            };
            format!("{flag} {value:?} is not known; {advice}")
        }
        ErrorKind::UnknownArgument => {
            let kind = if flag.starts_with('-') { "flag" } else { "argument" };
            format!("{flag} is not a known {kind}; {}", suggestion(&text(ContextKind::SuggestedArg)))
        }
        ErrorKind::InvalidSubcommand => {
            let name = text(ContextKind::InvalidSubcommand);
            if ["show", "explain", "lint", "convert", "diff"].contains(&name.as_str()) {
                return format!("{name} is not a command; did you mean table {name}?");
            }
            format!("{name} is not a command; {}", suggestion(&text(ContextKind::SuggestedSubcommand)))
        }
        ErrorKind::MissingSubcommand => {
            format!("no command is given; see {} --help for the list", command_of(error))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = text(ContextKind::InvalidArg).replace("...", "");
            let takes_all =
                !missing.starts_with('-') && error.render().to_string().contains("--proto <FILE>");
            let advice =
                if takes_all { "write -- before it if --proto takes it for a proto" } else { "see --help" };
            format!("{missing} must be given; {advice}")
        }
        ErrorKind::ArgumentConflict => {
            let prior = flag_of(&text(ContextKind::PriorArg));
            if prior.is_empty() || prior == flag {
                format!("{flag} is given twice; keep one")
            } else {
                format!("{flag} and {prior} exclude each other; leave one out")
            }
        }
        ErrorKind::TooManyValues => format!("{flag} takes no value, but has {value:?}; leave it out"),
        _ => first_line(error),
    }
}

fn suggestion(known: &str) -> String {
    if known.is_empty() { "see --help for the list".to_owned() } else { format!("did you mean {known}?") }
}

/// The command that lacks something: `gax table` of `Usage: gax table <COMMAND>`.
fn command_of(error: &Error) -> String {
    let text = error.render().to_string();
    let usage = text.split_once("Usage: ").map_or("gax", |(_, usage)| usage);
    let words =
        usage.split_whitespace().take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
    words.collect::<Vec<_>>().join(" ")
}

/// `--flag` of `--flag <VALUE>`, `TABLE` of `[TABLE]...`.
fn flag_of(arg: &str) -> String {
    let first = arg.split_whitespace().next().unwrap_or_default();
    first.trim_end_matches("...").trim_matches(['[', ']']).to_owned()
}

fn plain(value: &ContextValue) -> String {
    match value {
        ContextValue::Strings(all) => all.join(", "),
        ContextValue::StyledStrs(all) => all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn first_line(error: &Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
