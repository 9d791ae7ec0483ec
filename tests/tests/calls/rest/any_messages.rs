//! Any message and any text: there and back, and as others read them.

use super::types::{client, echoed, read_strictly};
use gax_rest::{RestOptions, RestTransport};
use proptest::prelude::{Just, Strategy, any, proptest};
use proptest::{collection, option, prop_oneof};
use prost::Message as _;
use prost_types::value::Kind as ValueKind;
use prost_types::{Any, Duration, FieldMask, ListValue, Struct, Timestamp, Value};
use std::collections::HashMap;
use tokio::runtime::{Builder, Runtime};
use tonic_gax_tests::RestServer;
use tonic_gax_tests::generated::rest_shapes::rest::everything::v1::everything::Choice;
use tonic_gax_tests::generated::rest_shapes::rest::everything::v1::{Everything, Flat};
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::GetNamedRequest;
use tonic_gax_tests::generated::rest_shapes::rest::messaging::v1::messaging_gax::{
    MessagingClient, MessagingSettings,
};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

fn doubles() -> impl Strategy<Value = f64> {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0];
    prop_oneof![4 => any::<f64>(), 1 => proptest::sample::select(odd.to_vec())]
}

fn floats() -> impl Strategy<Value = f32> {
    // The greatest float, which others refuse to read, is in the tests of each type.
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE, 1e-45, -0.0];
    prop_oneof![4 => any::<f32>(), 1 => proptest::sample::select(odd.to_vec())]
}

/// Numbers of 64 bits, those at the ends more often than others.
fn longs() -> impl Strategy<Value = i64> {
    prop_oneof![3 => any::<i64>(), 1 => Just(i64::MIN), 1 => Just(i64::MAX), 1 => Just(0)]
}

fn moments() -> impl Strategy<Value = Timestamp> {
    let nanos = prop_oneof![any::<u32>().prop_map(|nanos| nanos % 1_000_000_000), Just(0), Just(999_999_999)];
    let seconds =
        prop_oneof![-62_135_596_800..253_402_300_800_i64, Just(-62_135_596_800), Just(253_402_300_799)];
    (seconds, nanos).prop_map(|(seconds, nanos)| Timestamp { seconds, nanos: nanos.cast_signed() })
}

fn durations() -> impl Strategy<Value = Duration> {
    let seconds = prop_oneof![-315_575_999_999..=315_575_999_999_i64, -1..=1_i64];
    (seconds, 0..1_000_000_000_i32).prop_map(|(seconds, nanos)| {
        // Both have one sign.
        Duration { seconds, nanos: if seconds < 0 { -nanos } else { nanos } }
    })
}

fn masks() -> impl Strategy<Value = FieldMask> {
    let path = "[a-z][a-z0-9]{0,3}(_[a-z][a-z0-9]{0,3}){0,2}(\\.[a-z]{1,3}){0,2}";
    collection::vec(path, 0..4).prop_map(|paths| FieldMask { paths })
}

/// Free-form JSON.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(ValueKind::NullValue(0)),
        any::<bool>().prop_map(ValueKind::BoolValue),
        any::<f64>().prop_map(ValueKind::NumberValue),
        any::<String>().prop_map(ValueKind::StringValue),
    ];
    let of = |kind| Value { kind: Some(kind) };
    leaf.prop_map(of).prop_recursive(4, 16, 4, move |inner| {
        let list = collection::vec(inner.clone(), 0..4);
        let list = list.prop_map(|values| ValueKind::ListValue(ListValue { values }));
        let object = collection::btree_map(any::<String>(), inner, 0..4);
        let object = object.prop_map(|fields| ValueKind::StructValue(Struct { fields }));
        prop_oneof![list, object].prop_map(of)
    })
}

/// Messages in an Any: one of ours, one with a form of its own, and one that is a number.
fn anys() -> impl Strategy<Value = Any> {
    let of = |name: &str, value| Any { type_url: format!("type.googleapis.com/{name}"), value };
    prop_oneof![
        (any::<String>(), longs()).prop_map(move |(text, signed)| {
            let flat = Flat { text, signed, ..Flat::default() };
            of("rest.everything.v1.Flat", flat.encode_to_vec())
        }),
        durations().prop_map(move |time| of("google.protobuf.Duration", time.encode_to_vec())),
        doubles().prop_map(move |number| of("google.protobuf.DoubleValue", number.encode_to_vec())),
    ]
}

fn scalars() -> impl Strategy<Value = Everything> {
    let floats = (doubles(), floats());
    let signed = (any::<i32>(), longs(), any::<i32>(), longs(), any::<i32>(), longs());
    let unsigned = (any::<u32>(), any::<u64>(), any::<u32>(), any::<u64>());
    let others = (any::<bool>(), any::<String>(), any::<Vec<u8>>(), -3..5_i32, any::<String>());
    (floats, signed, unsigned, others).prop_map(|(floats, signed, unsigned, others)| {
        let (a_double, a_float) = floats;
        let (a_bool, a_string, some_bytes, kind, odd_name) = others;
        Everything {
            a_double,
            a_float,
            an_int32: signed.0,
            an_int64: signed.1,
            a_sint32: signed.2,
            a_sint64: signed.3,
            an_sfixed32: signed.4,
            an_sfixed64: signed.5,
            a_uint32: unsigned.0,
            a_uint64: unsigned.1,
            a_fixed32: unsigned.2,
            a_fixed64: unsigned.3,
            a_bool,
            a_string,
            some_bytes,
            kind,
            odd_name,
            ..Everything::default()
        }
    })
}

/// Any message, without what JSON has several forms of.
fn everything() -> impl Strategy<Value = Everything> {
    let choice =
        prop_oneof![any::<String>().prop_map(Choice::ChoiceText), longs().prop_map(Choice::ChoiceNumber)];
    let lists = (
        collection::vec(longs(), 0..4),
        collection::vec(any::<String>(), 0..4),
        collection::vec(-3..5_i32, 0..4),
        collection::hash_map(longs(), any::<Vec<u8>>(), 0..4),
        option::of(choice),
        option::of(any::<String>()),
    );
    let known = (option::of(moments()), option::of(durations()), option::of(masks()), option::of(anys()));
    let free = (
        option::of(collection::btree_map(any::<String>(), values(), 0..3)),
        option::of(values()),
        option::of(collection::vec(values(), 0..3)),
        option::of(Just(())),
    );
    let wrapped = (
        option::of(longs()),
        option::of(any::<String>()),
        option::of(any::<Vec<u8>>()),
        option::of(doubles()),
        option::of(floats()),
        option::of(any::<bool>()),
        option::of(any::<u64>()),
    );
    (scalars(), lists, known, free, wrapped).prop_map(|(scalars, lists, known, free, wrapped)| {
        let (numbers, texts, kinds, by_number, choice, maybe) = lists;
        let (moment, duration, mask, any) = known;
        let (fields, value, values, empty) = free;
        Everything {
            numbers,
            texts,
            kinds,
            by_number,
            choice,
            maybe,
            moment,
            duration,
            mask,
            any,
            free: fields.map(|fields| Struct { fields }),
            value,
            list: values.map(|values| ListValue { values }),
            empty,
            wrapped_number: wrapped.0,
            wrapped_text: wrapped.1,
            wrapped_bytes: wrapped.2,
            wrapped_double: wrapped.3,
            wrapped_float: wrapped.4,
            wrapped_bool: wrapped.5,
            wrapped_unsigned: wrapped.6,
            ..scalars
        }
    })
}

/// The message with a number of its own in place of each NaN, which is never equal to itself.
fn comparable(message: Everything) -> Everything {
    let double = |number: f64| if number.is_nan() { 1.234_567e-300 } else { number };
    let float = |number: f32| if number.is_nan() { 1.234_567e-30 } else { number };
    Everything {
        a_double: double(message.a_double),
        a_float: float(message.a_float),
        wrapped_double: message.wrapped_double.map(double),
        wrapped_float: message.wrapped_float.map(float),
        inner: message.inner.map(|inner| Box::new(comparable(*inner))),
        inners: message.inners.into_iter().map(comparable).collect(),
        by_text: message.by_text.into_iter().map(|(key, inner)| (key, comparable(inner))).collect(),
        ..message
    }
}

proptest! {
    #[test]
    fn any_message_is_read_by_others_and_comes_back(
        inner in everything(),
        key in any::<String>(),
        outer in everything(),
    ) {
        let by_text = HashMap::from([(key, inner.clone())]);
        let inners = vec![inner.clone(), Everything::default()];
        let message = Everything { inner: Some(Box::new(inner)), inners, by_text, ..outer };
        let (back, request) = runtime().block_on(echoed(message.clone()));
        let message = comparable(message);
        assert_eq!(comparable(read_strictly(&request)), message);
        assert_eq!(comparable(back), message);
    }

    #[test]
    fn any_text_comes_to_the_server_in_path_and_query(name in "[^/]+", other in any::<String>()) {
        let is_dots = name == "." || name == "..";
        let flat = Flat { name: format!("things/{name}"), text: other.clone(), ..Flat::default() };
        let server = RestServer::new([]);
        let called = runtime().block_on(async { client(&server).query(flat).await });
        assert_eq!(called.is_err(), is_dots);
        if !is_dots {
            let requests = server.requests();
            let (path, query) = (requests[0].uri.path(), requests[0].uri.query().unwrap());
            assert_eq!(decoded(path.strip_prefix("/v1/things/").unwrap()), name);
            let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap());
            let found = pairs.into_iter().find(|(key, _)| *key == "text").map(|(_, value)| decoded(value));
            assert_eq!(found.unwrap_or_default(), other);
        }
    }

    #[test]
    fn any_path_of_many_segments_keeps_them(name in "([a-z%:?#é .]{0,4}/){0,3}[a-z%2F&é]{1,4}") {
        let server = RestServer::new([]);
        let options = RestOptions::new().origin("http://example.com".parse().unwrap());
        let client: MessagingClient<RestTransport<RestServer>> =
            MessagingClient::rest_with_options(server.clone(), MessagingSettings::default(), options).unwrap();
        let request = GetNamedRequest { name: name.clone(), force: false };
        let called = runtime().block_on(async { client.cancel(request).await });
        let is_refused = name.starts_with('/') || name.split('/').any(|part| part == "." || part == "..");
        assert_eq!(called.is_err(), is_refused, "{name}");
        if let Some(request) = server.requests().first() {
            let path = request.uri.path().strip_prefix("/v1/").unwrap().strip_suffix(":cancel").unwrap();
            let segments: Vec<String> = path.split('/').map(decoded).collect();
            assert_eq!(segments, name.split('/').collect::<Vec<_>>());
        }
    }
}

/// A text without percent signs, as a server would decode it.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        assert!(first.is_ascii_alphanumeric() || b"-_.~%".contains(first), "{text}");
        if *first == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&others[..2]).unwrap(), 16).unwrap());
            rest = &others[2..];
        } else {
            bytes.push(*first);
            rest = others;
        }
    }
    String::from_utf8(bytes).unwrap()
}
