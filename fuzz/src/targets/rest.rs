//! Replies over REST: unary and streams, plain and compressed.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use super::canned::{Canned, Pieces, timed};
use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use gax_rest::{HttpRule, RestOptions, RestTransport};
use http::request::Parts;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};
use prost_types::{MethodDescriptorProto, ServiceDescriptorProto};
use serde_json::Value;
use std::io::Read as _;
use std::sync::LazyLock;
use tonic::body::Body;
use tonic::{Code, Status};
use tower_service::Service as _;

/// The longest JSON that is read.
const LIMIT: usize = 64 * 1024;

/// `fuzz.Item`, as far as it is read here.
#[derive(Clone, PartialEq, Message)]
struct Item {
    #[prost(string, tag = "1")]
    text: String,
}

/// `service Fuzz { rpc One(Item) returns (Item); rpc Many(Item) returns (stream Item); }`, where an item has a text, a number, a
/// detail of any type, and items.
static DESCRIPTORS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let field =
        |name: &str, number, label: Label, kind: Type, type_name: Option<&str>| FieldDescriptorProto {
            name: Some(name.to_owned()),
            number: Some(number),
            label: Some(label.into()),
            r#type: Some(kind.into()),
            type_name: type_name.map(str::to_owned),
            ..FieldDescriptorProto::default()
        };
    let method = |name: &str, is_stream| MethodDescriptorProto {
        name: Some(name.to_owned()),
        input_type: Some(".fuzz.Item".to_owned()),
        output_type: Some(".fuzz.Item".to_owned()),
        server_streaming: Some(is_stream),
        ..MethodDescriptorProto::default()
    };
    let item = DescriptorProto {
        name: Some("Item".to_owned()),
        field: vec![
            field("text", 1, Label::Optional, Type::String, None),
            field("number", 2, Label::Optional, Type::Double, None),
            field("detail", 3, Label::Optional, Type::Message, Some(".google.protobuf.Any")),
            field("items", 4, Label::Repeated, Type::Message, Some(".fuzz.Item")),
        ],
        ..DescriptorProto::default()
    };
    let service = ServiceDescriptorProto {
        name: Some("Fuzz".to_owned()),
        method: vec![method("One", false), method("Many", true)],
        ..ServiceDescriptorProto::default()
    };
    let file = FileDescriptorProto {
        name: Some("fuzz.proto".to_owned()),
        package: Some("fuzz".to_owned()),
        dependency: vec!["google/protobuf/any.proto".to_owned()],
        message_type: vec![item],
        service: vec![service],
        syntax: Some("proto3".to_owned()),
        ..FileDescriptorProto::default()
    };
    FileDescriptorSet { file: vec![file] }.encode_to_vec()
});

/// The options of the transport.
pub(super) fn options() -> RestOptions {
    let options = RestOptions::new().origin(Uri::from_static("http://fuzz.test")).max_response_bytes(LIMIT);
    let options = options.rule("fuzz.Fuzz.One", HttpRule::get("/one"));
    options.rule("fuzz.Fuzz.Many", HttpRule::get("/many"))
}

/// The messages that a caller got, and how it ended.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) messages: Vec<Bytes>,
    pub(super) code: Code,
}

impl PartialEq for Outcome {
    /// The fields of a `google.protobuf.Struct` have no order.
    fn eq(&self, other: &Self) -> bool {
        let sorted = |message: &Bytes| {
            let mut bytes = message.to_vec();
            bytes.sort_unstable();
            bytes
        };
        self.code == other.code && self.messages.iter().map(sorted).eq(other.messages.iter().map(sorted))
    }
}

/// Calls a method with an item of that text; `None`: the options can't be used.
pub(super) async fn call(
    options: RestOptions,
    method: &str,
    text: &str,
    respond: impl FnMut(&Parts, &[u8]) -> Response<Pieces> + Send + 'static,
) -> Option<Outcome> {
    let mut transport = RestTransport::new(Canned::new(respond), &DESCRIPTORS, options).ok()?;
    let item = Item { text: text.to_owned() }.encode_to_vec();
    let length = u32::try_from(item.len()).unwrap().to_be_bytes();
    let body = Full::new(Bytes::from([&[0], &length[..], &item].concat()));
    let request =
        Request::post(format!("http://fuzz.test/fuzz.Fuzz/{method}")).body(Body::new(body)).unwrap();
    let mut outcome = Outcome { messages: Vec::new(), code: Code::Unknown };
    let ended = async {
        let mut response = transport.call(request).await?;
        let mut end = Status::from_header_map(response.headers());
        while let Some(frame) = response.body_mut().frame().await {
            match frame?.into_data() {
                Ok(message) => outcome.messages.push(message),
                Err(frame) => end = frame.trailers_ref().and_then(Status::from_header_map),
            }
        }
        Err::<(), Status>(end.expect("the end has a status"))
    };
    let ended = ended.await;
    outcome.code = ended.unwrap_err().code();
    for message in &outcome.messages {
        let (prefix, rest) = message.split_at_checked(5).expect("a prefix");
        assert_eq!(prefix, [&[0], &u32::try_from(rest.len()).unwrap().to_be_bytes()[..]].concat());
        assert!(Item::decode(rest).is_ok());
    }
    Some(outcome)
}

/// The outcome where the server replies so.
fn replied(method: &str, head: fn() -> http::response::Builder, body: &[u8], length: usize) -> Outcome {
    let body = body.to_vec();
    let respond = move |_: &Parts, _: &[u8]| head().body(Pieces::cut(&body, length)).unwrap();
    timed(call(options(), method, "", respond)).0.unwrap()
}

/// The outcome of a unary call that fails with that body.
pub(super) fn failure(body: &[u8]) -> Outcome {
    replied("One", || Response::builder().status(429), body, 1000)
}

/// A stream ends in the same way wherever its body is cut, and has all messages where nothing is wrong with it.
pub(super) fn streams(data: &[u8]) {
    let whole = replied("Many", Response::builder, data, data.len());
    for length in [1, 7] {
        assert_eq!(replied("Many", Response::builder, data, length), whole, "in pieces of {length}");
    }
    if let Some(texts) = texts(data) {
        let items = whole.messages.iter().map(|message| Item::decode(message.slice(5..)).unwrap().text);
        assert_eq!((items.collect::<Vec<_>>(), whole.code), (texts, Code::Ok));
    }
}

/// The texts of an array of objects that have nothing else; `None`: it is another thing, or may be read in more ways than one.
fn texts(data: &[u8]) -> Option<Vec<String>> {
    let value: Value = serde_json::from_slice(data).ok()?;
    let is_plain = serde_json::to_vec(&value).is_ok_and(|written| written == data);
    let text = |item: &Value| {
        Some(item.as_object().filter(|item| item.len() == 1)?.get("text")?.as_str()?.to_owned())
    };
    value.as_array().filter(|_| is_plain)?.iter().map(text).collect()
}

/// A compressed response is what it is once unpacked, and an error where it can't be or is too long.
pub(super) fn gzip(data: &[u8]) {
    let packed = || Response::builder().header("content-encoding", "gzip");
    let mut plain = Vec::new();
    let unpacked = MultiGzDecoder::new(data).take(LIMIT as u64 + 1).read_to_end(&mut plain);
    // A body without a byte is one without compression, too.
    let is_broken = unpacked.is_err() && !data.is_empty();
    for length in [data.len(), 3] {
        let (outcome, stream) = (replied("One", packed, data, length), replied("Many", packed, data, length));
        if is_broken || plain.len() > LIMIT {
            assert_ne!(outcome.code, Code::Ok, "in pieces of {length}: {unpacked:?}");
        } else {
            assert_eq!(
                outcome,
                replied("One", Response::builder, &plain, plain.len()),
                "in pieces of {length}"
            );
        }
        assert!(!is_broken || stream.code != Code::Ok, "in pieces of {length}: {unpacked:?}");
    }
}
