//! Metadata, lists and deletions of objects.

use super::exchange::{Exchange, Stop};
use super::insert::CONDITION;
use super::route::Route;
use crate::storage::state::{Preconditions, StorageObject};
use crate::storage::wire::Reply;
use serde_json::{Value, json};
use std::collections::BTreeSet;

impl Exchange {
    /// The object that a request is about, if it is there and the request's conditions hold.
    pub(crate) fn object(&self, is_read: bool) -> Result<StorageObject, Stop> {
        let Route { bucket, name, .. } = &self.route;
        let object = self.shared.state.change(|state| state.objects.get(bucket, name).cloned());
        let generation = self.target.query("generation").map(str::parse::<i64>);
        if let Some(Err(_)) = generation {
            return Err(Stop::error(400, "The generation is not a number."));
        }
        let is_that = |object: &StorageObject| match &generation {
            Some(Ok(generation)) => object.generation() == *generation,
            _ => true,
        };
        let Some(object) = object.filter(is_that) else {
            return Err(Stop::error(404, &format!("No such object: {bucket}/{name}")));
        };
        match Preconditions::of(&self.target).map_err(Stop::invalid)?.refusal(Some(&object), is_read) {
            None => Ok(object),
            Some(304) => Err(Stop::Reply(Box::new(Reply::new(304)))),
            Some(status) => Err(Stop::error(status, CONDITION)),
        }
    }

    pub(crate) fn get(&self) -> Result<Reply, Stop> {
        let object = self.object(true)?;
        Ok(Reply::json(object.resource(&self.route.bucket, &self.route.name).to_string()))
    }

    pub(crate) fn delete(&self) -> Result<Reply, Stop> {
        drop(self.object(false)?);
        self.shared.state.change(|state| state.objects.remove(&self.route.bucket, &self.route.name));
        Ok(Reply::new(204))
    }

    /// A page of a list: the token of the next one is the last name of this one.
    pub(crate) fn list(&self) -> Result<Reply, Stop> {
        let (target, bucket) = (&self.target, &self.route.bucket);
        let most = match target.query("maxResults").map(str::parse::<usize>) {
            None => 1000,
            Some(Ok(most @ 1..)) => most.min(1000),
            Some(_) => return Err(Stop::error(400, "Invalid maxResults.")),
        };
        let prefix = target.query("prefix").unwrap_or_default();
        let delimiter = target.query("delimiter").filter(|delimiter| !delimiter.is_empty());
        let after = target.query("pageToken").unwrap_or_default();
        let page = self.shared.state.change(|state| {
            let (mut items, mut prefixes, mut next) = (Vec::new(), BTreeSet::new(), None);
            for (name, object) in state.objects.of(bucket) {
                let Some(rest) = name.strip_prefix(prefix) else { continue };
                let folder = delimiter.and_then(|end| Some(format!("{prefix}{}{end}", rest.split_once(end)?.0)));
                // A folder continues the page of its first object.
                let is_before = folder.as_ref().map_or(&**name <= after, |folder| after.starts_with(&**folder));
                if is_before || folder.as_ref().is_some_and(|folder| &**folder <= after) {
                    continue;
                }
                if folder.as_ref().is_some_and(|folder| prefixes.contains(folder)) {
                    continue;
                }
                if items.len() + prefixes.len() == most {
                    return json!({ "kind": "storage#objects", "items": items, "prefixes": prefixes, "nextPageToken": next });
                }
                next = Some(folder.clone().unwrap_or_else(|| name.clone()));
                match folder {
                    Some(folder) => drop(prefixes.insert(folder)),
                    None => items.push(object.resource(bucket, name)),
                }
            }
            json!({ "kind": "storage#objects", "items": items, "prefixes": prefixes })
        });
        Ok(Reply::json(without_empty(page).to_string()))
    }
}

/// A list without items has no field for them.
fn without_empty(mut page: Value) -> Value {
    if let Some(fields) = page.as_object_mut() {
        fields.retain(|_, value| value.as_array().is_none_or(|list| !list.is_empty()));
    }
    page
}
