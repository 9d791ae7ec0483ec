//! `google.rpc.RetryInfo` in the details of a status.

use std::time::Duration;

/// gRFC A6: milliseconds, or a negative number for "never".
pub const PUSHBACK: &str = "grpc-retry-pushback-ms";

/// The longest delay that the `RetryInfo`s of a status ask for, from the bytes of `grpc-status-details-bin`: a `google.rpc.Status`.
/// `None`: there is none, each is negative, or the bytes are no such message.
#[must_use]
pub fn retry_info(status: &[u8]) -> Option<Duration> {
    let mut longest = None;
    fields(status, |number, value| match number {
        3 => read_detail(value.bytes()?, &mut longest),
        _ => Some(()),
    })?;
    longest
}

/// Reads a `google.protobuf.Any`. `None`: it is no such message.
fn read_detail(any: &[u8], longest: &mut Option<Duration>) -> Option<()> {
    let (mut type_url, mut message): (&str, &[u8]) = ("", &[]);
    fields(any, |number, value| {
        match number {
            1 => type_url = str::from_utf8(value.bytes()?).ok()?,
            2 => message = value.bytes()?,
            _ => {}
        }
        Some(())
    })?;
    if type_url.ends_with("/google.rpc.RetryInfo") {
        *longest = delay_of(message).max(*longest);
    }
    Some(())
}

/// The delay in a `google.rpc.RetryInfo`: a `google.protobuf.Duration`, the parts of which are merged if there are several.
fn delay_of(retry_info: &[u8]) -> Option<Duration> {
    let mut delay = None;
    fields(retry_info, |number, value| {
        if number != 1 {
            return Some(());
        }
        let (seconds, nanos) = delay.get_or_insert((0, 0));
        fields(value.bytes()?, |number, value| {
            match number {
                1 => *seconds = value.integer()?,
                // Of an `int32`, the lower half counts.
                2 => *nanos = value.integer()? & u64::from(u32::MAX),
                _ => {}
            }
            Some(())
        })
    })?;
    let (seconds, nanos) = delay?;
    let is_negative = seconds > i64::MAX.unsigned_abs() || nanos > u64::from(i32::MAX.unsigned_abs());
    (!is_negative).then_some(Duration::from_secs(seconds).saturating_add(Duration::from_nanos(nanos)))
}

/// Reads the fields of a protobuf message, with their numbers. `None`: it is malformed, or a field is not of its type.
fn fields<'a>(message: &'a [u8], mut read: impl FnMut(u32, Value<'a>) -> Option<()>) -> Option<()> {
    let mut rest = Unread(message);
    while !rest.0.is_empty() {
        let (number, value) = rest.field(0)?;
        read(number, value)?;
    }
    Some(())
}

/// The value of a field.
enum Value<'a> {
    Integer(u64),
    Bytes(&'a [u8]),
    /// One of a type that no field has which is read here.
    Other,
    /// The end of a group.
    End,
}

impl<'a> Value<'a> {
    fn integer(&self) -> Option<u64> {
        if let Self::Integer(number) = self { Some(*number) } else { None }
    }

    fn bytes(&self) -> Option<&'a [u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }
}

/// The rest of a protobuf message.
struct Unread<'a>(&'a [u8]);

impl<'a> Unread<'a> {
    /// A field inside so many groups.
    fn field(&mut self, groups: u32) -> Option<(u32, Value<'a>)> {
        // As many as other readers of the format allow.
        const MOST_GROUPS: u32 = 100;
        let tag = u32::try_from(self.varint()?).ok()?;
        let number = Some(tag >> 3).filter(|number| *number > 0)?;
        let value = match tag & 7 {
            0 => Value::Integer(self.varint()?),
            1 => self.take(8).map(|_| Value::Other)?,
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Value::Bytes(self.take(length)?)
            }
            3 if groups < MOST_GROUPS => loop {
                match self.field(groups + 1)? {
                    (end, Value::End) if end == number => break Value::Other,
                    (_, Value::End) => return None,
                    _ => {}
                }
            },
            4 if groups > 0 => Value::End,
            5 => self.take(4).map(|_| Value::Other)?,
            _ => return None,
        };
        Some((number, value))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let part = u64::from(byte & 0x7f);
            if (part << shift) >> shift != part {
                return None;
            }
            number |= part << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;

    /// `google.rpc.Status`, as far as it is read here.
    #[derive(Clone, PartialEq, Message)]
    struct RpcStatus {
        #[prost(message, repeated, tag = "3")]
        details: Vec<Detail>,
    }

    /// `google.protobuf.Any`.
    #[derive(Clone, PartialEq, Message)]
    struct Detail {
        #[prost(string, tag = "1")]
        type_url: String,
        #[prost(bytes = "vec", tag = "2")]
        value: Vec<u8>,
    }

    /// `google.rpc.RetryInfo`.
    #[derive(Clone, PartialEq, Message)]
    struct RetryInfo {
        #[prost(message, optional, tag = "1")]
        retry_delay: Option<Delay>,
    }

    /// `google.protobuf.Duration`.
    #[derive(Clone, PartialEq, Message)]
    struct Delay {
        #[prost(int64, tag = "1")]
        seconds: i64,
        #[prost(int32, tag = "2")]
        nanos: i32,
    }

    /// The delay as prost reads it.
    fn by_prost(status: &[u8]) -> Option<Duration> {
        let details = RpcStatus::decode(status).ok()?.details;
        let delays = details.into_iter().filter(|detail| detail.type_url.ends_with("/google.rpc.RetryInfo"));
        let delay_of = |detail: Detail| {
            let delay = RetryInfo::decode(&*detail.value).ok()?.retry_delay?;
            Some(Duration::new(delay.seconds.try_into().ok()?, delay.nanos.try_into().ok()?))
        };
        delays.filter_map(delay_of).max()
    }

    const URL: &str = "type.googleapis.com/google.rpc.RetryInfo";

    fn status(details: &[(&str, i64, i32)]) -> Vec<u8> {
        let detail = |&(type_url, seconds, nanos): &(&str, i64, i32)| Detail {
            type_url: type_url.to_owned(),
            value: RetryInfo { retry_delay: Some(Delay { seconds, nanos }) }.encode_to_vec(),
        };
        [&[0x08, 0x08], &*RpcStatus { details: details.iter().map(detail).collect() }.encode_to_vec()]
            .concat()
    }

    #[test]
    fn the_longest_delay_counts() {
        let both = [(URL, 1, 500_000_000), ("x/google.rpc.Help", 9, 0), (URL, 0, 1)];
        assert_eq!(retry_info(&status(&both)), Some(Duration::from_millis(1500)));
        for negative in [(-1, 0), (0, -1), (-1, 999_999_999)] {
            assert_eq!(retry_info(&status(&[(URL, negative.0, negative.1)])), None, "{negative:?}");
        }
        let greatest = status(&[(URL, i64::MAX, i32::MAX)]);
        assert_eq!(retry_info(&greatest), by_prost(&greatest));
        assert_eq!(retry_info(&[]), None);
    }

    /// Every message that differs in one byte, or ends early, from ones that have all that is read, and groups.
    #[test]
    fn what_prost_reads_is_read_alike() {
        let group = [&[0x1b, 0x23, 0x08, 0x01, 0x24, 0x1c][..], &status(&[(URL, 3, 4)])].concat();
        let merged = {
            let halves = [Delay { seconds: 300, nanos: 1 }, Delay { seconds: 0, nanos: -1 }];
            let value = halves.map(|half| RetryInfo { retry_delay: Some(half) }.encode_to_vec()).concat();
            let detail = Detail { type_url: URL.to_owned(), value };
            RpcStatus { details: vec![detail] }.encode_to_vec()
        };
        let unknown =
            [&[0x39, 1, 2, 3, 4, 5, 6, 7, 8, 0x3d, 1, 2, 3, 4][..], &status(&[(URL, 1, 0)])].concat();
        let deep = [vec![0x1b; 99], vec![0x1c; 99]].concat();
        let mut found = 0;
        for whole in [status(&[(URL, 1, 2), ("other", -1, -1)]), group, merged, unknown, deep] {
            for end in 0..=whole.len() {
                assert_eq!(retry_info(&whole[..end]), by_prost(&whole[..end]), "{:?}", &whole[..end]);
            }
            for place in 0..whole.len() {
                for byte in 0..=u8::MAX {
                    let mut changed = whole.clone();
                    changed[place] = byte;
                    let read = retry_info(&changed);
                    assert_eq!(read, by_prost(&changed), "{changed:?}");
                    found += usize::from(read.is_some());
                }
            }
        }
        assert!(found > 1000, "{found}");
    }
}
