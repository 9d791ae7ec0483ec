//! The messages inside an operation, which have the types that its RPC names.

use prost::Message;
use prost_types::Any;
use std::borrow::Cow;
use std::fmt;

/// The type in whose place nothing is as good as a message.
const EMPTY: &str = "google.protobuf.Empty";

/// How one of an operation's messages is read.
pub(super) struct MessageType<T> {
    /// Its full name; `None`: any message is one of it.
    name: Option<Cow<'static, str>>,
    read: fn(&Any) -> Result<T, prost::DecodeError>,
    /// The value for a missing message, if the type has one.
    absent: Option<fn() -> T>,
}

impl MessageType<Any> {
    /// Messages as they are.
    pub(super) fn any() -> Self {
        Self { name: None, read: |any| Ok(any.clone()), absent: None }
    }
}

impl<T: Message + Default> MessageType<T> {
    pub(super) fn of(name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        let read = |any: &Any| T::decode(any.value.as_slice());
        let absent: Option<fn() -> T> = if name == EMPTY { Some(T::default) } else { None };
        Self { name: Some(name), read, absent }
    }
}

impl<T> MessageType<T> {
    /// Reads a message of that type.
    pub(super) fn read(&self, any: &Any) -> Result<T, WrongType> {
        let found = type_name(&any.type_url);
        let wrong = |problem| {
            let expected = self.name.as_deref().map(str::to_owned);
            WrongType { found: found.to_owned(), expected, problem }
        };
        match &self.name {
            Some(name) if name != found => Err(wrong(None)),
            _ => (self.read)(any).map_err(|problem| wrong(Some(problem))),
        }
    }

    pub(super) fn absent(&self) -> Option<T> {
        self.absent.map(|make| make())
    }
}

/// The full name in a type's URL.
fn type_name(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or(url)
}

/// A message is of another type, or is malformed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WrongType {
    found: String,
    expected: Option<String>,
    problem: Option<prost::DecodeError>,
}

impl fmt::Display for WrongType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = gax_text::Escaped(&self.found);
        match (&self.problem, &self.expected) {
            (Some(problem), _) => write!(f, "it is not a message of type {found}: {problem}"),
            (None, Some(expected)) => write!(f, "it is of type \"{found}\", not {expected}"),
            (None, None) => write!(f, "it is of type \"{found}\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_by_the_name_at_the_end_of_their_url() {
        let number = MessageType::<i64>::of("google.protobuf.Int64Value");
        let any = |url: &str, value: Vec<u8>| Any { type_url: url.to_owned(), value };
        let seven = 7_i64.encode_to_vec();
        assert_eq!(number.read(&any("type.googleapis.com/google.protobuf.Int64Value", seven.clone())), Ok(7));
        assert_eq!(number.read(&any("google.protobuf.Int64Value", seven.clone())), Ok(7));
        let other = number.read(&any("x/google.protobuf.StringValue", seven)).unwrap_err();
        assert_eq!(
            other.to_string(),
            "it is of type \"google.protobuf.StringValue\", not google.protobuf.Int64Value"
        );
        let malformed = number.read(&any("google.protobuf.Int64Value", vec![0xff])).unwrap_err();
        assert!(
            malformed.to_string().starts_with("it is not a message of type google.protobuf.Int64Value: ")
        );
    }

    #[test]
    fn nothing_is_a_value_of_an_empty_type_alone() {
        assert_eq!(MessageType::<()>::of(<() as prost::Name>::full_name()).absent(), Some(()));
        assert_eq!(MessageType::<i64>::of("google.protobuf.Int64Value").absent(), None);
        assert_eq!(MessageType::any().absent(), None);
    }
}
