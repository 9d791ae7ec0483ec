//! The guide's page about presets says what the presets are.

use gax_http::presets;

const PAGE: &str = include_str!("../../../docs/src/reference/http-rules.md");

#[test]
fn every_preset_has_its_row_and_its_statuses() {
    let rows: Vec<Vec<&str>> = PAGE
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').map(str::trim).collect())
        .filter(|row: &Vec<&str>| row.len() == 7)
        .collect();
    let names: Vec<String> = presets::names().map(|name| format!("`{name}`")).collect();
    assert_eq!(
        rows.iter().filter_map(|row| row.get(1)).collect::<Vec<_>>(),
        names.iter().collect::<Vec<_>>()
    );
    for row in rows {
        let [_, name, _, _, statuses, evidence, _] = row.try_into().unwrap();
        let preset = presets::named(name.trim_matches('`')).unwrap();
        let written = preset.statuses().to_string();
        assert_eq!(statuses, if written.is_empty() { "none" } else { &written }, "{name}");
        let source = preset.source();
        let expected = match evidence.split(':').next().unwrap() {
            "document" => source.contains("Memorystore for Redis,") || source.contains("Cloud Storage,"),
            "run" => {
                source.contains("as it runs")
                    || source.contains("service_config")
                    || source.contains("resumable")
            }
            "read" => source.contains("from its source"),
            _ => false,
        };
        assert!(expected, "{name}: {evidence}, but {source}");
    }
}
