//! Checksums of what is transferred.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use md5::{Digest as _, Md5};

/// The header in which Cloud Storage names the checksums of an object.
pub(super) const GOOG_HASH: &str = "x-goog-hash";

/// Which checksums of the whole are computed, sent and compared. CRC32C unless said.
///
/// # Examples
///
/// ```
/// use gax_transfer::{Checksums, Upload};
///
/// let upload = Upload::to_object("https://storage.googleapis.com", "photos", "cat.jpg", "meow");
/// let upload = upload.checksums(Checksums::BOTH);
/// # drop(upload);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Checksums {
    pub(super) crc32c: bool,
    pub(super) md5: bool,
}

impl Checksums {
    /// None.
    pub const NONE: Checksums = Checksums { crc32c: false, md5: false };
    /// CRC32C, which processors compute faster than disks read. Every object of Cloud Storage has it.
    pub const CRC32C: Checksums = Checksums { crc32c: true, md5: false };
    /// MD5. Composite objects have none.
    pub const MD5: Checksums = Checksums { crc32c: false, md5: true };
    /// Both.
    pub const BOTH: Checksums = Checksums { crc32c: true, md5: true };

    pub(super) fn is_empty(self) -> bool {
        self == Self::NONE
    }
}

impl Default for Checksums {
    fn default() -> Self {
        Self::CRC32C
    }
}

/// The checksums of some bytes, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ChecksumValues {
    pub(super) crc32c: Option<u32>,
    pub(super) md5: Option<[u8; 16]>,
}

impl ChecksumValues {
    /// Those that a response names in `x-goog-hash`: one value or several, also joined by commas. A value that can't be read
    /// is left out.
    pub(super) fn in_headers(headers: &HeaderMap) -> Self {
        Self::in_text(headers.get_all(GOOG_HASH).iter().filter_map(|value| value.to_str().ok()))
    }

    /// Those in the values of such headers.
    pub(super) fn in_text<'a>(values: impl Iterator<Item = &'a str>) -> Self {
        let mut sums = Self::default();
        for entry in values.flat_map(|value| value.split(',')) {
            match entry.trim().split_once('=') {
                Some(("crc32c", text)) => sums.crc32c = crc32c_of(text).or(sums.crc32c),
                Some(("md5", text)) => sums.md5 = decoded(text).or(sums.md5),
                _ => {}
            }
        }
        sums
    }

    /// Those that the resource of an object has.
    pub(super) fn in_resource(resource: &serde_json::Value) -> Self {
        let text = |name| resource.get(name).and_then(serde_json::Value::as_str);
        Self { crc32c: text("crc32c").and_then(crc32c_of), md5: text("md5Hash").and_then(decoded) }
    }

    /// These, and those of the other if there are none.
    pub(super) fn or(self, other: Self) -> Self {
        Self { crc32c: self.crc32c.or(other.crc32c), md5: self.md5.or(other.md5) }
    }

    /// The value of the header; `None`: there are none.
    pub(super) fn header(self) -> Option<String> {
        let values: Vec<_> = self.texts().map(|([name, _], text)| format!("{name}={text}")).collect();
        (!values.is_empty()).then(|| values.join(","))
    }

    /// Writes them into the resource of an object, instead of none.
    pub(super) fn add_to(self, resource: &mut serde_json::Map<String, serde_json::Value>) {
        for ([_, name], text) in self.texts() {
            resource.entry(name).or_insert(text.into());
        }
    }

    /// Each with its name in the header and in a resource.
    fn texts(self) -> impl Iterator<Item = ([&'static str; 2], String)> {
        let crc32c = self.crc32c.map(|sum| (["crc32c", "crc32c"], STANDARD.encode(sum.to_be_bytes())));
        let md5 = self.md5.map(|sum| (["md5", "md5Hash"], STANDARD.encode(sum)));
        crc32c.into_iter().chain(md5)
    }

    /// Returns whether there is a checksum that both have.
    pub(super) fn has_common(self, other: Self) -> bool {
        self.crc32c.is_some() && other.crc32c.is_some() || self.md5.is_some() && other.md5.is_some()
    }

    /// The name of a checksum that both have, and that differs.
    pub(super) fn difference(self, other: Self) -> Option<&'static str> {
        let is_other = self.crc32c.zip(other.crc32c).is_some_and(|(one, other)| one != other);
        let crc32c = is_other.then_some("CRC32C");
        crc32c.or(self.md5.zip(other.md5).is_some_and(|(one, other)| one != other).then_some("MD5"))
    }
}

fn crc32c_of(text: &str) -> Option<u32> {
    decoded(text).map(u32::from_be_bytes)
}

fn decoded<const N: usize>(text: &str) -> Option<[u8; N]> {
    STANDARD.decode(text.trim()).ok()?.try_into().ok()
}

/// The most bytes by which a CRC32C is moved on in one step.
const MAX_AT_ONCE: u64 = 1 << 31;

/// Computes checksums of bytes that come in their order.
#[derive(Debug, Clone)]
pub(super) struct Hasher {
    crc32c: Option<u32>,
    md5: Option<Md5>,
    bytes: u64,
}

impl Hasher {
    pub(super) fn new(checksums: Checksums) -> Self {
        Self { crc32c: checksums.crc32c.then_some(0), md5: checksums.md5.then(Md5::new), bytes: 0 }
    }

    gax_text::getters! { self:
        /// How many bytes it has seen.
        pub(super) bytes: u64 = self.bytes;

        pub(super) is_needed: bool = self.crc32c.is_some() || self.md5.is_some();
    }

    pub(super) fn update(&mut self, data: &[u8]) {
        self.crc32c = self.crc32c.map(|sum| crc32c::crc32c_append(sum, data));
        if let Some(md5) = &mut self.md5 {
            md5.update(data);
        }
        self.bytes += data.len() as u64;
    }

    /// Takes in the bytes that begin at that place, except for those that it has seen.
    pub(super) fn update_at(&mut self, begin: u64, data: &[u8]) {
        let seen = usize::try_from(self.bytes.saturating_sub(begin)).unwrap_or(usize::MAX);
        if begin <= self.bytes {
            self.update(data.get(seen..).unwrap_or_default());
        }
    }

    pub(super) fn sums(&self) -> ChecksumValues {
        let md5 = self.md5.as_ref().map(|md5| md5.clone().finalize().into());
        ChecksumValues { crc32c: self.crc32c, md5 }
    }

    /// The checksums of what comes behind these bytes as well, whose CRC32C and length are known.
    pub(super) fn join(&mut self, crc32c: u32, bytes: u64) {
        let shifted = |sum| {
            let (mut sum, mut left) = (sum, bytes);
            // Where `usize` has 32 bits, more takes several steps.
            while left > 0 {
                let step = usize::try_from(left.min(MAX_AT_ONCE)).unwrap_or(usize::MAX);
                sum = crc32c::crc32c_combine(sum, 0, step);
                left -= step as u64;
            }
            sum
        };
        self.crc32c = self.crc32c.map(|sum| shifted(sum) ^ crc32c);
        self.bytes += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    const CHECK: &[u8] = b"123456789";

    fn sums(data: &[u8]) -> ChecksumValues {
        let mut hasher = Hasher::new(Checksums::BOTH);
        hasher.update(data);
        hasher.sums()
    }

    /// The check values of RFC 3720 and RFC 1321.
    #[test]
    fn checksums_of_known_bytes() {
        let known = sums(CHECK);
        assert_eq!(known.crc32c, Some(0xe306_9283));
        assert_eq!(known.header().unwrap(), "crc32c=4waSgw==,md5=JfnnlDI7RTiF9RgfG2JNCw==");
        assert_eq!(sums(b"").header().unwrap(), "crc32c=AAAAAA==,md5=1B2M2Y8AsgTpgAmY7PhCfg==");
        assert_eq!(Hasher::new(Checksums::NONE).sums().header(), None);
    }

    #[test]
    fn headers_in_one_line_or_several() {
        let mut headers = HeaderMap::new();
        for value in ["crc32c=4waSgw==", "md5=JfnnlDI7RTiF9RgfG2JNCw=="] {
            headers.append(GOOG_HASH, HeaderValue::from_static(value));
        }
        assert_eq!(ChecksumValues::in_headers(&headers), sums(CHECK));
        let mut joined = HeaderMap::new();
        joined.insert(GOOG_HASH, sums(CHECK).header().unwrap().parse().unwrap());
        assert_eq!(ChecksumValues::in_headers(&joined), sums(CHECK));
        for wrong in ["crc32c=", "crc32c=AAAA", "md5=!", "sha=AAAAAA==", "crc32c"] {
            let mut headers = HeaderMap::new();
            headers.insert(GOOG_HASH, HeaderValue::from_static(wrong));
            assert_eq!(ChecksumValues::in_headers(&headers), ChecksumValues::default(), "{wrong}");
        }
    }

    #[test]
    fn what_comes_again_counts_once_and_ranges_are_joined() {
        let mut hasher = Hasher::new(Checksums::BOTH);
        hasher.update_at(0, b"12345");
        hasher.update_at(3, b"4567");
        hasher.update_at(0, b"12");
        hasher.update_at(7, b"89");
        assert_eq!(hasher.sums(), sums(CHECK));
        for cut in 0..=CHECK.len() {
            let (head, tail) = CHECK.split_at(cut);
            let mut joined = Hasher::new(Checksums::CRC32C);
            joined.update(head);
            joined.join(sums(tail).crc32c.unwrap(), tail.len() as u64);
            assert_eq!((joined.sums().crc32c, joined.bytes()), (sums(CHECK).crc32c, 9), "{cut}");
        }
    }

    /// However a long part is cut, the whole has the same CRC32C.
    #[test]
    fn long_ranges_are_joined_in_steps() {
        for bytes in [MAX_AT_ONCE - 1, MAX_AT_ONCE, 3 << 30, 5 << 39] {
            let mut at_once = Hasher::new(Checksums::CRC32C);
            at_once.update(CHECK);
            let mut in_two = at_once.clone();
            at_once.join(0x1234_5678, bytes);
            in_two.join(0, bytes - 7);
            in_two.join(0x1234_5678, 7);
            assert_eq!((at_once.sums(), at_once.bytes()), (in_two.sums(), in_two.bytes()), "{bytes}");
        }
    }

    #[test]
    fn only_what_both_have_can_differ() {
        let (one, other) = (sums(b"1"), sums(b"2"));
        assert_eq!(one.difference(one), None);
        assert_eq!(one.difference(other), Some("CRC32C"));
        assert_eq!(one.difference(ChecksumValues { crc32c: None, ..other }), Some("MD5"));
        assert_eq!(one.difference(ChecksumValues::default()), None);
    }
}
