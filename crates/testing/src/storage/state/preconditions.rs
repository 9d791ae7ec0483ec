//! Preconditions of requests.

use super::StorageObject;
use crate::storage::wire::Target;

/// The conditions under which a request is carried out, as its query has them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Preconditions {
    generation: Option<i64>,
    not_generation: Option<i64>,
    metageneration: Option<i64>,
    not_metageneration: Option<i64>,
}

impl Preconditions {
    /// Those of a request.
    ///
    /// # Errors
    ///
    /// The name of one that is not a number.
    pub(crate) fn of(target: &Target) -> Result<Self, &'static str> {
        let number = |name: &'static str| match target.query(name).map(str::parse) {
            None => Ok(None),
            Some(number) => number.map(Some).map_err(|_| name),
        };
        Ok(Self {
            generation: number("ifGenerationMatch")?,
            not_generation: number("ifGenerationNotMatch")?,
            metageneration: number("ifMetagenerationMatch")?,
            not_metageneration: number("ifMetagenerationNotMatch")?,
        })
    }

    /// The status to refuse a request with; `None`: every condition holds. An object that is not there has generation 0.
    pub(crate) fn refusal(self, object: Option<&StorageObject>, is_read: bool) -> Option<u16> {
        let generation = object.map_or(0, StorageObject::generation);
        let metageneration = i64::from(object.is_some());
        let is_other = |wanted: Option<i64>, is: i64| wanted.is_some_and(|wanted| wanted != is);
        if is_other(self.generation, generation) || is_other(self.metageneration, metageneration) {
            return Some(412);
        }
        let is_same =
            self.not_generation == Some(generation) || self.not_metageneration == Some(metageneration);
        is_same.then_some(if is_read { 304 } else { 412 })
    }
}
