//! Contents of objects.

use super::exchange::{Exchange, Stop};
use super::insert::{CONDITION, KEY_HASH};
use crate::storage::fault::Action;
use crate::storage::reply_body::length;
use crate::storage::state::StorageObject;
use crate::storage::wire::{ByteRange, Reply};
use bytes::Bytes;

impl Exchange {
    pub(crate) fn download(&self) -> Result<Reply, Stop> {
        let object = self.object(true)?;
        if object.key_hash.is_some() && object.key_hash.as_deref() != self.header(KEY_HASH) {
            return Err(Stop::error(400, "The object is encrypted with another key."));
        }
        let etag = object.etag();
        let is_of = |name: &str| self.header(name).map(|tags| matches(tags, &etag));
        if is_of("if-match") == Some(false) {
            return Err(Stop::error(412, CONDITION));
        }
        if is_of("if-none-match") == Some(true) {
            return Ok(Reply::new(304).with("etag", etag));
        }
        let is_encoded = object.encoding() == Some("gzip") && !self.accepts_gzip();
        if let Some(content) = object.decompressed().filter(|_| is_encoded) {
            // A content that is made on the way has no length and no ranges.
            let reply = Reply { body: content, is_sized: false, ..Reply::new(200) };
            return Ok(describe(reply, &object).with("warning", "214 UploadServer gunzipped"));
        }
        let mut reply = self.range(&object, &etag)?;
        reply = describe(reply, &object).with("accept-ranges", "bytes");
        Ok(match object.encoding() {
            Some(encoding) => reply.with("content-encoding", encoding.to_owned()),
            None => reply,
        })
    }

    /// The content, or the range of it that was asked for.
    fn range(&self, object: &StorageObject, etag: &str) -> Result<Reply, Stop> {
        let content = object.content();
        let whole = Reply { body: content.clone(), ..Reply::new(200) };
        // If it is another object by now, the range means nothing.
        let is_same = self.header("if-range").is_none_or(|tag| tag.trim() == etag);
        let range = self.header("range").and_then(ByteRange::read).filter(|_| is_same);
        let earlier = match self.action() {
            Some(Action::IgnoredRange) => return Ok(whole),
            Some(Action::EarlierRange(bytes)) => *bytes,
            _ => 0,
        };
        let Some(range) = range else { return Ok(whole) };
        let size = length(content);
        let Some((begin, end)) = range.within(size) else {
            let mut reply = Reply::error(416, "Requested range not satisfiable");
            reply = reply.with("content-range", format!("bytes */{size}"));
            return Err(Stop::Reply(Box::new(reply)));
        };
        let begin = begin.saturating_sub(earlier);
        let reply = Reply { body: slice(content, begin, end), place: begin, ..Reply::new(206) };
        Ok(reply.with("content-range", format!("bytes {begin}-{}/{size}", end - 1)))
    }

    /// Returns whether the client takes gzip.
    fn accepts_gzip(&self) -> bool {
        let encodings = self.header("accept-encoding").unwrap_or_default();
        encodings.split(',').any(|encoding| encoding.trim().eq_ignore_ascii_case("gzip"))
    }
}

fn slice(content: &Bytes, begin: u64, end: u64) -> Bytes {
    let place = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(content.len());
    content.slice(place(begin)..place(end))
}

/// The headers that say which object it is.
fn describe(reply: Reply, object: &StorageObject) -> Reply {
    let hashes = [("crc32c", object.crc32c()), ("md5", object.md5())];
    let hashes: Vec<_> =
        hashes.iter().filter_map(|(name, hash)| Some(format!("{name}={}", (*hash)?))).collect();
    reply
        .with("content-type", object.media_type().to_owned())
        .with("etag", object.etag())
        .with("x-goog-generation", object.generation())
        .with("x-goog-metageneration", 1)
        .with("x-goog-hash", hashes.join(","))
        .with("x-goog-stored-content-encoding", object.encoding().unwrap_or("identity").to_owned())
        .with("x-goog-stored-content-length", length(object.content()))
}

/// Returns whether a list of entity tags has that one.
fn matches(tags: &str, etag: &str) -> bool {
    tags.split(',').any(|tag| tag.trim() == "*" || tag.trim() == etag)
}
