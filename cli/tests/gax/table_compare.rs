use super::session;
use insta::assert_snapshot;

const LIBRARY: &str = "library_grpc_service_config.json";

#[test]
fn a_method_is_explained() {
    let lines = [
        format!("table explain {LIBRARY} ListBooks"),
        format!("table explain {LIBRARY} DeleteBook"),
        "table explain table/messy_grpc_service_config.json GetShelf".to_owned(),
        "table explain table/messy_grpc_service_config.json CreateShelf --dialect gax-java".to_owned(),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
}

#[test]
fn a_hedged_method_is_explained() {
    assert_snapshot!(session("table explain hedged.toml GetBook"));
}

#[test]
fn a_method_is_explained_to_programs() {
    assert_snapshot!(session(&format!("table explain {LIBRARY} DeleteBook --format json")));
}

#[test]
fn a_table_is_converted_and_losses_are_told() {
    let lines = [
        format!("table convert {LIBRARY} --to toml"),
        format!("table convert {LIBRARY} --to envoy"),
        format!("table convert {LIBRARY} --to xml"),
    ];
    let text = lines.map(|line| session(&line)).join("\n");
    assert!(text.contains("[[entry]]"), "{text}");
    assert!(text.contains("[not-expressible]"), "{text}");
    assert!(text.contains("error: --to \"xml\" is not known; write one of grpc, gapic"), "{text}");
}
