//! Every recorded operation of gax-java comes out as it was recorded.

use super::Summary;
use serde_json::Value;
use std::fs;

/// The recorded cases of the repository, a line each. They are not in the package.
fn recorded(file: &str) -> String {
    fs::read_to_string(format!("{}/../../tests/data/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn cases() -> Vec<Value> {
    recorded("gax_java_algorithm.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_case_comes_out_as_recorded() {
    let mut runner = Summary::default();
    for file in ["gax_java_algorithm.jsonl", "stream_broken_final.jsonl"] {
        runner.run_file(file, recorded(file).as_bytes()).unwrap();
    }
    let summary = &runner;
    assert_eq!(summary.failures, []);

    let count = |wanted: &str| {
        let of_kind = summary.categories().filter(|((kind, _), _)| *kind == wanted);
        of_kind.fold((0, 0), |(passed, compared), (_, counts)| {
            (passed + counts.passed, compared + counts.compared)
        })
    };
    // 741 of the unary cases record the bare algorithm, all 811 what a call does.
    assert_eq!(count("unary"), (811, 741 + 811));
    // Four of them are streams that break with a code that isn't retryable.
    assert_eq!(count("streaming"), (64, 64));
    assert_eq!(count("poll"), (73, 73));
    assert_eq!(count("validate"), (53, 53));
    let (total, cases) = (summary.total(), cases());
    assert_eq!(total.passed, cases.len() + 4);
    // Every recorded list of tracer calls is compared with what observers get.
    let lists = cases.iter().map(|case| {
        let records = ["expected", "expected_callable"].map(|name| case[name]["tracer"].is_array());
        records.into_iter().filter(|is_list| *is_list).count()
    });
    assert_eq!((total.traced, lists.sum::<usize>()), (59, 59));
}

/// The value at a path of keys and indexes, and all such paths that lead to a number or a text.
fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter().filter(|(name, _)| *name != "tracer") {
                leaves(field, &format!("{path}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                leaves(item, &format!("{path}/{index}"), found);
            }
        }
        Value::Number(_) | Value::String(_) | Value::Bool(_) => found.push(path.to_owned()),
        Value::Null => {}
    }
}

fn changed(value: &Value, by: i64) -> Value {
    match value {
        Value::Number(number) => Value::from(number.as_i64().unwrap() + by),
        Value::Bool(truth) => Value::from(!truth),
        other => Value::from(format!("{}_", other.as_str().unwrap())),
    }
}

#[test]
fn a_changed_number_or_word_makes_its_case_fail() {
    let mut changes = 0;
    for (index, case) in cases().iter().enumerate() {
        let mut paths = Vec::new();
        for part in ["expected", "expected_callable", "ok", "error"] {
            if let Some(value) = case.get(part) {
                leaves(value, &format!("/{part}"), &mut paths);
            }
        }
        paths.retain(|path| path != "/expected_callable");
        // One place a case, another one in each; all places of some cases.
        let (first, step) =
            if index % 50 == 0 { (0, 1) } else { (index % paths.len().max(1), paths.len().max(1)) };
        for path in paths.iter().skip(first).step_by(step) {
            let mut other = case.clone();
            let place = other.pointer_mut(path).unwrap();
            *place = changed(place, if index % 2 == 0 { 1 } else { -1 });
            let mut runner = Summary::default();
            runner.run_file("cases", other.to_string().as_bytes()).unwrap();
            assert_eq!(runner.total().failed, 1, "{}: {path}", case["id"]);
            changes += 1;
        }
    }
    assert!(changes > 1000, "{changes}");
}

#[test]
fn a_refused_attempt_that_is_no_longer_recorded_makes_its_case_fail() {
    let mut removed = 0;
    for mut case in cases() {
        let expected = case["expected"].as_object_mut();
        let Some(_denied) = expected.and_then(|expected| expected.remove("denied_next")) else { continue };
        let mut runner = Summary::default();
        runner.run_file("cases", case.to_string().as_bytes()).unwrap();
        // Only records of the bare algorithm have refused attempts.
        assert_eq!(runner.total().failed, 1, "{}", case["id"]);
        removed += 1;
    }
    assert!(removed > 100, "{removed}");
}
