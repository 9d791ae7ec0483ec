//! A value that is not as it was.

use super::fact::{Fact, facts};
use super::kinds::Reasons;
use crate::command::table::view::MethodView;
use gax_table::SourceLocation;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::ops::Deref;
use std::rc::Rc;

/// A value that is not as it was. Serialises to the form that `--format json` documents.
#[derive(Debug, Serialize)]
pub(super) struct Change {
    what: &'static str,
    /// As text: maps of values would take several times as much memory, for thousands of methods.
    old: Box<RawValue>,
    new: Box<RawValue>,
    pub(super) old_place: Option<String>,
    pub(super) new_place: Option<String>,
    /// Its name for people, and both values.
    #[serde(skip)]
    pub(super) words: [String; 3],
}

impl Change {
    /// Returns whether it is a change of that value.
    pub(super) fn is_about(&self, what: &str) -> bool {
        self.what == what
    }

    /// `None`: the value is as it was. The places are those of the first part that isn't.
    pub(super) fn between([was, is]: [Fact; 2]) -> Option<Self> {
        if was.value == is.value {
            return None;
        }
        let [old_place, new_place] = if was.parts.is_empty() || is.parts.is_empty() {
            [was.parts, is.parts].map(|parts| parts.into_iter().find_map(|(_, place)| place))
        } else {
            let mut parts = was.parts.into_iter().zip(is.parts);
            parts.find(|(was, is)| was.0 != is.0).map_or([None, None], |(was, is)| [was.1, is.1])
        };
        let words = [was.name.to_owned(), was.words, is.words];
        // Values that are made here have a text.
        let [old, new] = [to_raw_value(&was.value).ok()?, to_raw_value(&is.value).ok()?];
        Some(Self { what: was.what, old, new, old_place, new_place, words })
    }
}

/// All of a method that is not as it was.
pub(super) fn changes(was: &MethodView<'_>, is: &MethodView<'_>) -> Vec<Change> {
    facts(was).into_iter().zip(facts(is)).filter_map(|(was, is)| Change::between([was, is])).collect()
}

/// A method that is not as it was.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) name: String,
    /// Its name in the old table, if that is another.
    pub(super) old_name: Option<String>,
    pub(super) what: Rc<WhatChanged>,
}

/// All that is not as it was. Methods whose entries are the same in both tables share it.
#[derive(Debug)]
pub(super) struct WhatChanged {
    pub(super) changes: Vec<Change>,
    pub(super) reasons: Reasons,
    /// Where the new table says so, or else the old one.
    pub(super) place: Option<SourceLocation>,
    pub(super) old_place: Option<SourceLocation>,
}

impl Changed {
    /// What has the same name in both tables.
    pub(super) fn of(
        name: String,
        changes: Vec<Change>,
        reasons: Reasons,
        [old_place, place]: [Option<SourceLocation>; 2],
    ) -> Self {
        Self { name, old_name: None, what: Rc::new(WhatChanged { changes, reasons, place, old_place }) }
    }
}

impl Deref for Changed {
    type Target = WhatChanged;

    fn deref(&self) -> &WhatChanged {
        &self.what
    }
}
