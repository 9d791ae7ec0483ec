//! The word for idempotency and hedging, in all that the command says of a table.

use super::{session, stdout};
use insta::assert_snapshot;
use serde_json::Value;

const TABLE: &str = "table/idempotent.toml";
const LATER: &str = "table/idempotent_later.toml";

#[test]
fn people_get_a_table() {
    let lines = [
        format!("table show {TABLE}"),
        format!("table explain {TABLE} GetBook"),
        format!("table explain {TABLE} Reserve"),
        format!("table explain {LATER} Reserve"),
        format!("table diff {TABLE} {LATER}"),
        format!("table convert {TABLE} --to toml"),
        format!("table convert {TABLE} --to grpc"),
        format!("table lint {TABLE} {LATER} --allow sibling-drift"),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
}

#[test]
fn programs_get_json() {
    let json =
        |line: String| serde_json::from_str::<Value>(&stdout(&format!("{line} --format json"))).unwrap();
    let shown = json(format!("table show {TABLE}"));
    let of = |name: &str| {
        let methods = shown["methods"].as_array().unwrap();
        methods.iter().find(|row| row["method"].as_str() == Some(name)).unwrap()
    };
    assert_eq!((&of("Reserve")["idempotent"], &of("GetBook")["idempotent"]), (&true.into(), &true.into()));
    assert_eq!(shown["methods"][0]["idempotent"], Value::Null);
    let origins = &of("GetBook")["origins"];
    assert_eq!(origins["hedging"].as_str().unwrap().rsplit_once('/').unwrap().1, "idempotent.toml:13:11");
    assert_eq!(origins["idempotent"].as_str().unwrap().rsplit_once('/').unwrap().1, "idempotent.toml:14:14");
    assert_eq!(json(format!("table explain {TABLE} Reserve"))["idempotent"], true);
    let diff = json(format!("table diff {TABLE} {LATER}"));
    let reserve = &diff["methods"][1];
    assert_eq!(
        reserve["changes"].to_string(),
        r#"[{"new":false,"new_place":null,"old":true,"old_place":null,"what":"idempotent"}]"#
    );
    assert_eq!(reserve["kinds"].to_string(), "[]");
}
