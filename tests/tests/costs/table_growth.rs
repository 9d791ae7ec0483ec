//! The cost of large tables grows as the tables do, and no faster.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use allocation_counter::measure;
use gax_retry::MethodKind;
use gax_table::lint::{Linter, sibling_drift};
use gax_table::{ConversionTarget, MethodDescription, RetryTable, ServiceDescription};
use std::fmt;
use tonic_gax_benches::large_table::SHAPES;

/// A piece of work on a table's text, and its name.
type Work = (String, Box<dyn Fn(&str)>);

/// The most memory that work on a table may take, in lengths of its text.
const MOST: u64 = 22;

/// The allocations of `run` with a table of that many rows, and the most memory that it held at once.
fn cost(text: &str, run: &dyn Fn(&str)) -> (u64, u64) {
    let info = measure(|| run(text));
    (info.count_total, info.bytes_max)
}

/// A writer that keeps nothing.
struct Nowhere;

impl fmt::Write for Nowhere {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}

fn work() -> Vec<Work> {
    let lint = |text: &str| {
        let table = RetryTable::parse(text).unwrap();
        let tables = [table.clone(), table];
        drop((Linter::new().run(tables.first().unwrap()), sibling_drift(&tables)));
    };
    let converts = ConversionTarget::ALL.iter().map(|target| {
        let convert = |text: &str| {
            RetryTable::parse(text).unwrap().convert_to(*target, &[], &mut Nowhere).unwrap();
        };
        (format!("convert to {target}"), Box::new(convert) as Box<dyn Fn(&str)>)
    });
    converts.chain([("lint".to_owned(), Box::new(lint) as Box<dyn Fn(&str)>)]).collect()
}

#[test]
fn twice_the_rows_take_twice_the_allocations_and_twice_the_memory() {
    let mut wrong = Vec::new();
    for shape in SHAPES {
        let (few, many) = (shape.texts(100).unwrap(), shape.texts(200).unwrap());
        for ((form, few), (_, many)) in few.iter().zip(&many) {
            for (what, run) in work() {
                let ((once, least), (twice, most)) = (cost(few, &run), cost(many, &run));
                if twice > 2 * once + once / 5 || most > 2 * least + least / 5 {
                    wrong.push(format!(
                        "{what} of {} in {form}: {once}, then {twice} allocations, at most {least}, then {most} bytes",
                        shape.name
                    ));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn no_work_holds_more_than_22_times_the_text() {
    let mut wrong = Vec::new();
    for shape in SHAPES {
        for (form, text) in shape.texts(400).unwrap() {
            for (what, run) in work() {
                let (_, most) = cost(&text, &run);
                if most > MOST * text.len() as u64 {
                    let times = most / text.len() as u64;
                    wrong.push(format!("{what} of {} in {form}: {times} lengths of the text", shape.name));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn names_that_no_service_has_are_found_in_one_pass() {
    let allocations = |count: usize| {
        let names = SHAPES.first().unwrap();
        let table = RetryTable::parse(&(names.json)(count)).unwrap();
        let all = |of: &str| {
            let methods = (0..count)
                .map(|number| MethodDescription::new(format!("{of}{number:05}"), MethodKind::Unary));
            methods
                .fold(ServiceDescription::new("example.library.v1.Library"), ServiceDescription::with_method)
        };
        assert_eq!(table.unknown_names(&[all("GetBook")]), []);
        let unknown = [all("ListShelf")];
        let info = measure(|| assert_eq!(table.unknown_names(&unknown).len(), count));
        info.count_total
    };
    let (once, twice) = (allocations(1000), allocations(2000));
    assert!(twice <= 2 * once + once / 5, "{once}, then {twice}");
}
