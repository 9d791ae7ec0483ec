//! The names that Google's Node generator gives to params.

use crate::convert::text::{Field, Value};
use std::fmt::Write as _;

/// How the npm package `object-hash` puts into words that something is a plain object: the prototype and
/// constructor that every such object has.
const PLAIN_OBJECT: &str = "string:9:prototype:Undefined,string:9:__proto__:\
object:3:string:9:prototype:Undefined,string:9:__proto__:Null,string:11:constructor:\
fn:string:8:[native]string:20:function-name:Objectobject:0:,,string:11:constructor:\
fn:string:8:[native]string:20:function-name:Objectstring:12:[CIRCULAR:2],";

/// The SHA-1 that the npm package `object-hash` computes for an object whose values are numbers.
pub(super) fn object_hash(fields: &[Field<'_>]) -> String {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_by(|one, other| one.key.cmp(&other.key));
    let mut text = format!("object:{}:{PLAIN_OBJECT}", sorted.len() + 3);
    for field in sorted {
        if let Value::Number(number) = &field.value {
            let _infallible = write!(text, "string:{}:{}:number:{number},", field.key.len(), field.key);
        }
    }
    sha1_smol::Sha1::from(text).digest().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::text::field;

    #[test]
    fn names_are_those_of_published_clients() {
        for (initial, multiplier, max, name) in [
            ("100", "4", "60000", "693222d32e887d96c8faeadca469f7763ccda85a"),
            ("100", "1.3", "30000", "71ca22c74d2828b200f9ff1cc285a8beb96cc2af"),
            ("2000", "2", "60000", "dd71b8c1d82d51c18ce5ba426d9acc4c44e7746e"),
            ("1000", "2", "60000", "264268458a9e88347dbacbd9398202ff5885a40b"),
        ] {
            let fields = [
                ("initial_retry_delay_millis", initial),
                ("retry_delay_multiplier", multiplier),
                ("max_retry_delay_millis", max),
                ("initial_rpc_timeout_millis", "60000"),
                ("rpc_timeout_multiplier", "1"),
                ("max_rpc_timeout_millis", "60000"),
                ("total_timeout_millis", "600000"),
            ]
            .map(|(key, number)| field(key, Value::Number(number.into())));
            assert_eq!(object_hash(&fields), name);
        }
    }
}
