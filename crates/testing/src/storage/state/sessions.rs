//! The uploads that were started.

use super::{Session, Stage};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct Sessions {
    by_id: BTreeMap<String, Session>,
    /// A request that is cut leaves a multiple of so many bytes persisted.
    pub(crate) granularity: u64,
}

impl Default for Sessions {
    fn default() -> Self {
        Self { by_id: BTreeMap::new(), granularity: Self::CHUNK }
    }
}

impl Sessions {
    /// The length that chunks have a multiple of.
    pub(crate) const CHUNK: u64 = 256 * 1024;

    /// Starts an upload; its id.
    pub(crate) fn start(&mut self, session: Session) -> String {
        let id = format!("upload-{:08}", self.by_id.len() + 1);
        self.by_id.insert(id.clone(), session);
        id
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Session> {
        self.by_id.get(id)
    }

    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut Session> {
        self.by_id.get_mut(id)
    }

    /// The uploads that continue.
    pub(crate) fn open(&self) -> usize {
        self.by_id.values().filter(|session| matches!(session.stage, Stage::Active)).count()
    }

    pub(crate) fn expire(&mut self, status: u16) {
        for session in self.by_id.values_mut().filter(|session| matches!(session.stage, Stage::Active)) {
            session.stage = Stage::Expired(status);
        }
    }
}
