//! What large tables take grows as the tables do, and no faster.

use allocation_counter::measure;
use gax_table::lint::{Linter, sibling_drift};
use gax_table::{ConversionTarget, RetryTable};
use tonic_gax_benches::large_table::SHAPES;

/// A piece of work on a table's text, and its name.
type Work = (String, Box<dyn Fn(&str)>);

/// The allocations of `run` with a table of that many rows, and the peak in lengths of its text.
fn cost(text: &str, run: &dyn Fn(&str)) -> (u64, u64) {
    let info = measure(|| run(text));
    (info.count_total, info.bytes_max / text.len() as u64)
}

#[test]
fn twice_the_rows_take_twice_the_allocations_and_twice_the_memory() {
    let mut wrong = Vec::new();
    let lint = |text: &str| {
        let table = RetryTable::parse(text).unwrap();
        let tables = [table.clone(), table];
        drop((Linter::new().run(tables.first().unwrap()), sibling_drift(&tables)));
    };
    let converts: Vec<Work> = ConversionTarget::ALL
        .iter()
        .map(|target| {
            let convert = |text: &str| drop(RetryTable::parse(text).unwrap().convert(*target));
            (format!("convert to {target}"), Box::new(convert) as Box<dyn Fn(&str)>)
        })
        .collect();
    let lint: Work = ("lint".to_owned(), Box::new(lint));
    for (name, text) in SHAPES {
        let (few, many) = (text(250), text(500));
        for (what, run) in converts.iter().chain([&lint]) {
            let ((once, least), (twice, most)) = (cost(&few, run), cost(&many, run));
            if twice > 2 * once + once / 5 || most > least + 2 {
                wrong.push(format!(
                    "{what} of {name}: {once}, then {twice} allocations, at most {least}, then {most} lengths of the text"
                ));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}
