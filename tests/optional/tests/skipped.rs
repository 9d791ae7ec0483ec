//! The line that a test prints if its data is missing.

use std::process::Command;
use tonic_gax_optional_data::shared_with;

#[test]
#[ignore = "the test below runs it, in a process of its own"]
fn lacks_its_data() {
    assert_eq!(shared_with("tables/of/nobody"), None);
}

#[test]
fn a_test_that_passes_says_what_it_lacks() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lacks_its_data", "--ignored"])
        .env("TONIC_GAX_SHARED", env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "skipped: no tables/of/nobody to test with (set TONIC_GAX_SHARED to the folder that has it)\n"
    );
}
