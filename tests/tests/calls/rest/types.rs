//! Fields of all types, in bodies, queries and paths, each as proto3's JSON has it.

use gax_rest::{RestOptions, RestTransport};
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde_json::{Value, json};
use std::collections::HashMap;
use tonic::{Code, Status};
use tonic_gax_tests::generated::rest_shapes::DESCRIPTORS;
use tonic_gax_tests::generated::rest_shapes::rest::everything::v1::everything::Choice;
use tonic_gax_tests::generated::rest_shapes::rest::everything::v1::everything_service_gax::{
    EverythingServiceClient, EverythingServiceSettings,
};
use tonic_gax_tests::generated::rest_shapes::rest::everything::v1::{Everything, Flat, Kind};
use tonic_gax_tests::{RestReply, RestRequest, RestServer};

pub(super) type Client = EverythingServiceClient<RestTransport<RestServer>>;

pub(super) fn client(server: &RestServer) -> Client {
    EverythingServiceClient::rest(server.clone(), EverythingServiceSettings::default())
}

/// A server that replies with the body that it was sent.
fn echo() -> RestServer {
    RestServer::by(|request| RestReply::ok(request.body.clone()).cut(11))
}

/// The request as prost-reflect itself reads it, strictly.
pub(super) fn read_strictly(request: &RestRequest) -> Everything {
    let pool = DescriptorPool::decode(DESCRIPTORS).unwrap();
    let kind = pool.get_message_by_name("rest.everything.v1.Everything").unwrap();
    let mut json = serde_json::Deserializer::from_slice(&request.body);
    let message = DynamicMessage::deserialize(kind, &mut json).unwrap();
    Everything::decode(message.encode_to_vec().as_slice()).unwrap()
}

/// A message as it comes back, and the request that it went in.
pub(super) async fn echoed(message: Everything) -> (Everything, RestRequest) {
    let server = echo();
    let back = client(&server).echo(message).await.unwrap().into_inner();
    (back, server.requests().remove(0))
}

fn text(value: &str) -> String {
    value.to_owned()
}

/// The extremes of each type.
fn extremes() -> Everything {
    Everything {
        a_double: f64::MAX,
        a_float: f32::MAX,
        an_int32: i32::MIN,
        an_int64: i64::MIN,
        a_uint32: u32::MAX,
        a_uint64: u64::MAX,
        a_sint32: i32::MAX,
        a_sint64: i64::MAX,
        a_fixed32: u32::MAX,
        a_fixed64: u64::MAX,
        an_sfixed32: i32::MIN,
        an_sfixed64: i64::MIN,
        a_bool: true,
        a_string: text("\u{0}\u{1f}\"\\/é€𝄞\u{10ffff}%2F"),
        some_bytes: (0..=255).collect(),
        kind: 77,
        inner: Some(Box::new(Everything { a_float: -f32::MAX, a_double: 5e-324, ..Everything::default() })),
        maybe: Some(String::new()),
        choice: Some(Choice::ChoiceNumber(0)),
        numbers: vec![i64::MIN, 0, i64::MAX],
        texts: vec![String::new(), text("ü")],
        kinds: vec![Kind::Large.into(), 0, -5],
        inners: vec![
            Everything::default(),
            Everything { a_double: 0.1, a_float: 0.1, ..Everything::default() },
        ],
        by_text: HashMap::from([(text("clé"), Everything { a_bool: true, ..Everything::default() })]),
        by_number: HashMap::from([(i64::MIN, vec![0xff])]),
        moment: Some(prost_types::Timestamp { seconds: 253_402_300_799, nanos: 999_999_999 }),
        duration: Some(prost_types::Duration { seconds: -315_576_000_000, nanos: -1 }),
        mask: Some(prost_types::FieldMask { paths: vec![text("a_b.c_d"), text("e")] }),
        free: Some(prost_types::Struct::default()),
        value: Some(prost_types::Value { kind: Some(prost_types::value::Kind::NullValue(0)) }),
        list: Some(prost_types::ListValue::default()),
        any: Some(prost_types::Any {
            type_url: text("type.googleapis.com/rest.everything.v1.Flat"),
            value: Flat { text: text("any"), ..Flat::default() }.encode_to_vec(),
        }),
        empty: Some(()),
        wrapped_number: Some(i64::MIN),
        wrapped_text: Some(String::new()),
        wrapped_bytes: Some(vec![0xfb, 0xff]),
        wrapped_double: Some(-0.0),
        wrapped_float: Some(0.0),
        wrapped_bool: Some(false),
        wrapped_unsigned: Some(u64::MAX),
        odd_name: text("odd"),
    }
}

#[tokio::test]
async fn extremes_of_all_types_go_there_and_back() {
    let (back, request) = echoed(extremes()).await;
    assert_eq!(back, extremes());
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    // Lower camel names; whole numbers of 64 bits as texts, enums by name, where there is one.
    for (name, expected) in [
        ("anInt64", json!("-9223372036854775808")),
        ("aUint64", json!("18446744073709551615")),
        ("anInt32", json!(-2_147_483_648)),
        ("kind", json!(77)),
        ("kinds", json!(["LARGE", "KIND_UNSPECIFIED", -5])),
        ("maybe", json!("")),
        ("choiceNumber", json!("0")),
        ("moment", json!("9999-12-31T23:59:59.999999999Z")),
        ("duration", json!("-315576000000.000000001s")),
        ("mask", json!("aB.cD,e")),
        ("value", Value::Null),
        ("any", json!({"@type": "type.googleapis.com/rest.everything.v1.Flat", "text": "any"})),
        ("wrappedNumber", json!("-9223372036854775808")),
        ("wrappedBytes", json!("+/8=")),
        ("byNumber", json!({"-9223372036854775808": "/w=="})),
        ("veryOdd$Name", json!("odd")),
        ("empty", json!({})),
    ] {
        assert_eq!(body[name], expected, "{name}");
    }
    assert_eq!(body.get("choiceText"), None);
    let line = request.line();
    assert!(line.starts_with("POST /v1/everything:echo?$alt=json%3Benum-encoding%3Dint {"), "{line}");
    assert_eq!(request.uri.authority().unwrap(), "everything.example.com");
    assert_eq!(request.uri.scheme_str(), Some("https"));
}

#[tokio::test]
async fn numbers_that_are_none_go_there_and_back() {
    for (number, expected) in
        [(f64::NAN, "NaN"), (f64::INFINITY, "Infinity"), (f64::NEG_INFINITY, "-Infinity")]
    {
        #[expect(clippy::cast_possible_truncation, reason = "there is no number to be cut")]
        let short = number as f32;
        let sent = Everything {
            a_double: number,
            a_float: short,
            wrapped_double: Some(number),
            wrapped_float: Some(short),
            any: Some(prost_types::Any {
                type_url: text("type.googleapis.com/google.protobuf.DoubleValue"),
                value: number.encode_to_vec(),
            }),
            ..Everything::default()
        };
        let (back, request) = echoed(sent).await;
        assert_eq!(
            (back.a_double.to_string(), back.a_float.to_string()),
            (number.to_string(), number.to_string())
        );
        assert_eq!(back.wrapped_double.unwrap().to_string(), number.to_string());
        assert_eq!(back.wrapped_float.unwrap().to_string(), number.to_string());
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let any = json!({"@type": "type.googleapis.com/google.protobuf.DoubleValue", "value": expected});
        let expected = json!({"aDouble": expected, "aFloat": expected, "wrappedDouble": expected,
            "wrappedFloat": expected, "any": any});
        assert_eq!(body, expected);
        // In a query, too.
        let server = RestServer::new([]);
        client(&server)
            .misplace(Everything { wrapped_double: Some(number), ..Everything::default() })
            .await
            .unwrap();
        let line = server.lines().remove(0);
        assert!(
            line.starts_with(
                &format!("GET /v1/everything?wrappedDouble={number}&").replace("inf", "Infinity")
            ),
            "{line}"
        );
    }
}

#[tokio::test]
async fn a_query_has_scalars_lists_wrappers_times_and_messages() {
    let server = RestServer::new([]);
    let inner = Flat { text: text("x y"), kinds: vec![1], ..Flat::default() };
    let flat = Flat {
        name: text("things/1"),
        signed: -1,
        is_set: true,
        kind: Kind::Large.into(),
        data: vec![0xfb, 0xff],
        ratio: 0.1,
        text: text("é&="),
        texts: vec![text("a"), String::new()],
        kinds: vec![2, 9],
        wrapped: Some(text("w")),
        moment: Some(prost_types::Timestamp { seconds: 1, nanos: 0 }),
        duration: Some(prost_types::Duration { seconds: 1, nanos: 500_000_000 }),
        mask: Some(prost_types::FieldMask { paths: vec![text("a_b"), text("c")] }),
        inner: Some(Box::new(inner)),
        maybe: Some(String::new()),
        exact: f64::INFINITY,
    };
    client(&server).query(flat).await.unwrap();
    let expected = [
        "signed=-1",
        "isSet=true",
        "kind=LARGE",
        "data=%2B%2F8%3D",
        "ratio=0.1",
        "text=%C3%A9%26%3D",
        "texts=a",
        "texts=",
        "kinds=LARGE",
        "kinds=9",
        "wrapped=w",
        "moment=1970-01-01T00%3A00%3A01Z",
        "duration=1.500s",
        "mask=aB%2Cc",
        "inner.text=x%20y",
        "inner.kinds=SMALL",
        "maybe=",
        "exact=Infinity",
        "$alt=json%3Benum-encoding%3Dint",
    ];
    assert_eq!(server.lines(), [format!("GET /v1/things/1?{}", expected.join("&"))]);
}

#[tokio::test]
async fn a_path_has_scalars() {
    let server = RestServer::new([]);
    let flat = Flat { signed: -7, is_set: true, kind: 2, ratio: 2.5, text: text("a/b"), ..Flat::default() };
    client(&server).place(flat).await.unwrap();
    client(&server).place(Flat { text: text("x"), kind: 5, ..Flat::default() }).await.unwrap();
    let paths: Vec<String> = server.requests().iter().map(|request| request.uri.path().to_owned()).collect();
    assert_eq!(paths, ["/v1/-7/true/LARGE/2.5/a%2Fb", "/v1/0/false/5/0.0/x"]);
}

#[tokio::test]
async fn what_a_query_cannot_express_is_refused() {
    let inner = || Everything { a_bool: true, ..Everything::default() };
    for (message, problem) in [
        (
            Everything { inners: vec![inner()], ..Everything::default() },
            "inners would have to be in the query, but it is a list of messages",
        ),
        (
            Everything { by_number: HashMap::from([(1, vec![1])]), ..Everything::default() },
            "byNumber would have to be in the query, but it is a map",
        ),
        (
            Everything { free: Some(prost_types::Struct::default()), ..Everything::default() },
            "free would have to be in the query, but it is free-form JSON",
        ),
        (
            Everything {
                inner: Some(Box::new(Everything { inners: vec![inner()], ..Everything::default() })),
                ..Everything::default()
            },
            "inner.inners would have to be in the query",
        ),
    ] {
        let server = RestServer::new([]);
        let status = client(&server).misplace(message).await.unwrap_err();
        assert_eq!((status.code(), server.requests().len()), (Code::InvalidArgument, 0));
        assert!(status.message().contains(problem), "{status:?}");
    }
}

#[tokio::test]
async fn what_json_cannot_express_is_refused_with_its_path() {
    let number = prost_types::Value { kind: Some(prost_types::value::Kind::NumberValue(f64::NAN)) };
    let free = prost_types::Struct { fields: [(text("a"), number)].into() };
    for (message, problem) in [
        (
            Everything { free: Some(free), ..Everything::default() },
            "free.a: cannot serialize non-finite double",
        ),
        (
            Everything {
                mask: Some(prost_types::FieldMask { paths: vec![text("a_1")] }),
                ..Everything::default()
            },
            "mask: cannot roundtrip field name through camelcase",
        ),
        (
            Everything {
                any: Some(prost_types::Any { type_url: text("x/nobody.Knows"), value: Vec::new() }),
                ..Everything::default()
            },
            "any: message 'nobody.Knows' not found",
        ),
        (
            Everything {
                duration: Some(prost_types::Duration { seconds: i64::MAX, nanos: 0 }),
                ..Everything::default()
            },
            "duration: duration out of range",
        ),
    ] {
        let server = echo();
        let status = client(&server).echo(message).await.unwrap_err();
        assert_eq!((status.code(), server.requests().len()), (Code::InvalidArgument, 0));
        assert!(status.message().contains(problem), "{status:?}");
    }
    let mut deep = Everything::default();
    for _ in 0..200 {
        deep = Everything { inner: Some(Box::new(deep)), ..Everything::default() };
    }
    let server = echo();
    let status = client(&server).echo(deep).await.unwrap_err();
    assert_eq!((status.code(), server.requests().len()), (Code::InvalidArgument, 0));
    assert!(status.message().contains("recursion limit"), "{status:?}");
    let late = prost_types::Timestamp { seconds: i64::MAX, nanos: 0 };
    let inner = Everything { moment: Some(late), ..Everything::default() };
    let message = Everything { inners: vec![Everything::default(), inner], ..Everything::default() };
    let server = echo();
    let status = client(&server).echo(message).await.unwrap_err();
    assert_eq!((status.code(), server.requests().len()), (Code::InvalidArgument, 0));
    assert!(status.message().contains("inners[1].moment: timestamp out of range"), "{status:?}");
    let flat = Flat { name: text("things/1"), moment: Some(late), ..Flat::default() };
    let status = client(&server).query(flat).await.unwrap_err();
    assert_eq!((status.code(), server.requests().len()), (Code::InvalidArgument, 0));
    assert!(
        status.message().contains("moment can't be expressed in JSON: timestamp out of range"),
        "{status:?}"
    );
}

async fn reply(body: impl Into<String>) -> Result<Everything, Status> {
    let server = RestServer::new([RestReply::ok(body.into())]);
    Ok(client(&server).echo(Everything::default()).await?.into_inner())
}

#[tokio::test]
async fn replies_are_read_as_proto3_allows_them() {
    let body = r#"{"an_int32": "7", "anInt64": 8, "aUint64": "9", "aDouble": "1.5", "someBytes": "-_8", "kind": 99,
        "kinds": [1, "NEW_ONE", "LARGE", 12], "aString": null, "unknown": {"a": [1]}, "numbers": ["1", 2, 3e0], "inner": {}}"#;
    let expected = Everything {
        an_int32: 7,
        an_int64: 8,
        a_uint64: 9,
        a_double: 1.5,
        some_bytes: vec![0xfb, 0xff],
        kind: 99,
        kinds: vec![1, 2, 12],
        numbers: vec![1, 2, 3],
        inner: Some(Box::default()),
        ..Everything::default()
    };
    assert_eq!(reply(body).await.unwrap(), expected);
}

/// The last one counts whole: lists and messages are not put together.
#[tokio::test]
async fn names_that_come_twice_have_the_last_value() {
    let body = r#"{"aString":"a","inners":[{"aString":"b"},{}],"inner":{"aBool":true},"anInt32":1,
        "inners":[{"aString":"c"}],"a_string":"d","byText":{"k":{},"l":{}},"inner":{"anInt32":2},"byText":{"k":{"aBool":true}},
        "anInt32":null,"inner":null}"#;
    let inner = |text: &str| Everything { a_string: text.to_owned(), ..Everything::default() };
    let expected = Everything {
        a_string: "d".to_owned(),
        an_int32: 1,
        inners: vec![inner("c")],
        inner: Some(Box::new(Everything { an_int32: 2, ..Everything::default() })),
        by_text: [("k".to_owned(), Everything { a_bool: true, ..Everything::default() })].into(),
        ..Everything::default()
    };
    assert_eq!(reply(body).await.unwrap(), expected);
}

#[tokio::test]
async fn replies_that_are_wrong_say_where() {
    for (body, problem) in [
        (r#"{"anInt32":"x"}"#, "anInt32: invalid digit found in string"),
        (r#"{"anInt32":"NaN"}"#, "anInt32: invalid digit found in string"),
        (r#"{"anInt32":1.5}"#, "anInt32: expected integer value"),
        (r#"{"anInt32":2147483648}"#, "anInt32: out of range integral type conversion attempted"),
        (r#"{"aUint32":-1}"#, "aUint32: out of range integral type conversion attempted"),
        (r#"{"aFloat":1e39}"#, "aFloat: float value out of range"),
        (r#"{"aBool":"true"}"#, "aBool: invalid type: string \"true\", expected a boolean"),
        (r#"{"someBytes":"!"}"#, "someBytes: invalid base64"),
        (r#"{"inners":[{},{"inner":{"aString":5}}]}"#, "inners[1].inner.aString: invalid type: integer `5`"),
        (r#"{"inners":{}}"#, "inners: invalid type: map, expected a list"),
        (r#"{"byText":{"k":{"aBool":1}}}"#, "byText.k.aBool: invalid type: integer `1`, expected a boolean"),
        (r#"{"byNumber":{"x":""}}"#, "byNumber: invalid digit found in string"),
        (r#"{"moment":"yesterday"}"#, "moment: "),
        (r#"{"duration":5}"#, "duration: invalid type: integer `5`"),
        (r#"{"any":{"a":1}}"#, "any: expected '@type' field"),
        (r#"{"any":{},"aBool":1}"#, "aBool: invalid type: integer `1`, expected a boolean"),
        (r#"{"choiceText":"a","choiceNumber":1}"#, "multiple fields provided for oneof 'choice'"),
    ] {
        let status = reply(body).await.unwrap_err();
        let start = format!("the response is not a rest.everything.v1.Everything: {problem}");
        assert!(
            status.code() == Code::Internal && status.message().starts_with(&start),
            "{body}: {status:?}"
        );
    }
}

/// Messages without a type, of a type that no descriptors have, and of one that none of the service's own messages need.
#[tokio::test]
async fn an_any_of_any_type_is_read_and_sent_as_it_was() {
    let body = json!({
        "any": {},
        "inner": {"any": {"@type": "type.googleapis.com/nobody.Knows", "a": [{"@type": 1.5}, {}], "b": {}}},
        "inners": [
            {"any": {"@type": "type.googleapis.com/google.api.CustomHttpPattern", "kind": "LOCK"}},
            {"any": {"@type": "type.googleapis.com/rest.everything.v1.Everything", "any": {"@type": "nobody/Knows"}}},
        ],
        "byText": {"k": {"any": {}}},
        "free": {"any": {"@type": "nobody/Knows"}, "empty": {}},
    });
    let server = RestServer::by({
        let body = body.to_string();
        move |_| RestReply::ok(body.clone())
    });
    let client = client(&server);
    let read = client.echo(Everything::default()).await.unwrap().into_inner();
    assert_eq!(read.any, Some(prost_types::Any::default()));
    let unknown = read.inner.clone().unwrap().any.unwrap();
    assert_eq!(unknown.type_url, "type.googleapis.com/google.protobuf.Struct");
    let fields = prost_types::Struct::decode(unknown.value.as_slice()).unwrap().fields;
    let name = prost_types::value::Kind::StringValue(text("type.googleapis.com/nobody.Knows"));
    assert_eq!(fields["@type"].kind, Some(name));
    let any = |place: usize| read.inners[place].any.clone().unwrap();
    assert_eq!(any(0).type_url, "type.googleapis.com/google.api.CustomHttpPattern");
    let nested = Everything::decode(any(1).value.as_slice()).unwrap();
    assert_eq!(nested.any.unwrap().type_url, "type.googleapis.com/google.protobuf.Struct");
    client.echo(read).await.unwrap();
    // An Any inside an Any of a known type is written as it is there.
    let mut expected = body;
    let inner =
        json!({"@type": "type.googleapis.com/google.protobuf.Struct", "value": {"@type": "nobody/Knows"}});
    expected["inners"][1]["any"]["any"] = inner;
    let sent: Value = serde_json::from_slice(&server.requests()[1].body).unwrap();
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn replies_that_are_too_deep_are_refused_and_unknown_ones_skipped() {
    let nested = |depth: usize| format!("{}{{}}{}", r#"{"inner":"#.repeat(depth), "}".repeat(depth));
    reply(nested(60)).await.unwrap();
    let status = reply(nested(10_000)).await.unwrap_err();
    assert_eq!(status.code(), Code::Internal);
    assert!(status.message().contains("recursion limit exceeded"), "{status:?}");
    let unknown = format!(r#"{{"unknown":{}1{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(reply(unknown).await.unwrap(), Everything::default());
}

#[tokio::test]
async fn numeric_enums_are_asked_for_as_the_program_wants_it() {
    let server = RestServer::new([]);
    let options = RestOptions::new().numeric_enums(false);
    let settings = EverythingServiceSettings::default();
    let client = EverythingServiceClient::rest_with_options(server.clone(), settings, options).unwrap();
    client.query(Flat { name: text("things/1"), ..Flat::default() }).await.unwrap();
    assert_eq!(server.lines(), ["GET /v1/things/1"]);
}
