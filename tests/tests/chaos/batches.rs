//! Batchers in virtual time: elements from many tasks, a random server, callers that go away, and every way to end a batcher at
//! a random moment. Each element ends exactly once, with the result of the batch that carried it.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "what fails here fails a test")]

use gax_batching::{
    AddRefusal, BatchCall, Batcher, BatcherTotals, BatchingRules, ElementFailure, ElementSize,
};
use gax_batching::{BatchingSettings, LimitExceeded};
use gax_driver::Retryer;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tonic::Status;
use tonic_gax::{Code, RetrySettings};
use tonic_gax_tests::chaos::{Draw, SeedOutcome, Seeds};
use tonic_gax_tests::{ms, virtual_time};

/// An element, whose clones are counted.
#[derive(Debug)]
struct Element {
    id: usize,
    key: u64,
    bytes: u64,
    _alive: Arc<()>,
}

/// How an element ended, as its caller sees it.
#[derive(Debug, Clone, PartialEq)]
enum End {
    Reply(u64),
    Failed(ElementFailure, Option<String>),
    Refused(AddRefusal),
    /// The caller went away while it waited for room, or before the reply.
    GoneAdding,
    GoneWaiting,
}

/// An attempt as the server saw it; it is the result of each of its elements.
#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    Running,
    Replied { but: BTreeSet<usize> },
    Failed,
    Panicked,
}

#[derive(Debug, Clone)]
struct SeenBatch {
    ids: Vec<usize>,
    /// The attempts' numbers.
    attempts: Vec<u64>,
}

#[derive(Debug, Default)]
struct Seen {
    attempts: Vec<Outcome>,
    /// By the first element.
    batches: BTreeMap<usize, SeenBatch>,
    in_flight: BTreeMap<u64, usize>,
    broken: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Ending {
    Close,
    GiveBack,
    Abort,
    DropHandles,
    DropDriver,
}

#[derive(Debug, Clone)]
struct Drawn {
    settings: BatchingSettings,
    rules: BatchingRules,
    keys: u64,
    is_ordered: bool,
    elements: usize,
    tasks: usize,
    latency: u64,
    /// So many of a hundred attempts fail.
    share: u64,
    faults: Arc<BTreeMap<u64, u64>>,
    impatience: u64,
    ending: Ending,
    ends_at: Duration,
}

impl Drawn {
    fn new(draw: &mut Draw, elements: usize) -> Self {
        let count = draw.pick(&[1, 2, 3, 10, 50]);
        let bytes = draw.pick(&[10, 40, 1000, u64::MAX]);
        let mut settings = BatchingSettings::builder()
            .element_count_threshold(count)
            .request_byte_threshold(bytes)
            .delay_threshold(draw.pick(&[Duration::ZERO, ms(1), ms(7), ms(40)]))
            .limit_exceeded(draw.pick(&[
                LimitExceeded::Block,
                LimitExceeded::Block,
                LimitExceeded::ThrowException,
                LimitExceeded::Ignore,
            ]));
        if draw.percent(80) {
            settings = settings.max_outstanding_elements(count + draw.below(20));
        }
        if bytes < u64::MAX && draw.percent(50) {
            settings = settings.max_outstanding_bytes(bytes + draw.below(100));
        }
        let endings =
            [Ending::Close, Ending::GiveBack, Ending::Abort, Ending::DropHandles, Ending::DropDriver];
        Self {
            settings: settings.build(),
            rules: draw.pick(&[BatchingRules::Exceeded, BatchingRules::Reached]),
            keys: draw.between(1, 4),
            is_ordered: draw.percent(40),
            elements,
            tasks: draw.pick(&[1, 2, 5, 20]),
            latency: draw.pick(&[0, 1, 10, 50]),
            share: draw.pick(&[0, 5, 30]),
            faults: Arc::default(),
            impatience: draw.pick(&[0, 10, 50]),
            ending: draw.pick(&endings),
            // Most often somewhere in the middle.
            ends_at: draw.sometimes(70, |draw| draw.ms(0, 300)).unwrap_or(ms(1_000_000)),
        }
    }
}

/// The numbers of attempts that fail, and how each does.
fn faults(seed: u64, share: u64) -> Vec<(u64, u64)> {
    let mut draw = Draw::new(!seed);
    (0..10_000).filter_map(|number| draw.sometimes(share, |draw| (number, draw.below(4)))).collect()
}

type TestBatcher = Batcher<Element, u64, Status>;

/// The server's side of a batch: an attempt replies, replies in part, fails or panics.
async fn serve(
    seen: Arc<Mutex<Seen>>,
    draw: Arc<Mutex<Draw>>,
    drawn: Drawn,
    batch: Arc<[Element]>,
) -> Result<Served, Status> {
    let (key, ids) = (batch[0].key, batch.iter().map(|element| element.id).collect::<Vec<_>>());
    let (latency, part) = {
        let mut draw = draw.lock().unwrap();
        (draw.ms(0, drawn.latency), draw.fork())
    };
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.attempts.push(Outcome::Running);
        let number = seen.attempts.len() as u64 - 1;
        if batch.iter().any(|element| element.key != key) {
            seen.broken.push(format!("{ids:?} have several keys"));
        }
        let known = seen
            .batches
            .entry(ids[0])
            .or_insert_with(|| SeenBatch { ids: ids.clone(), attempts: Vec::new() });
        known.attempts.push(number);
        let is_same = known.ids == ids;
        if !is_same {
            seen.broken.push(format!("{ids:?} was another batch before"));
        }
        *seen.in_flight.entry(key).or_default() += 1;
        if drawn.is_ordered && seen.in_flight[&key] > 1 {
            seen.broken.push(format!("two batches of {key} are in flight"));
        }
        number
    };
    let running = InFlight { seen: Arc::clone(&seen), key };
    sleep(latency).await;
    drop(running);
    let end = |outcome| seen.lock().unwrap().attempts[usize::try_from(number).unwrap()] = outcome;
    match drawn.faults.get(&number) {
        Some(0) => {
            end(Outcome::Failed);
            Err(Status::unavailable(number.to_string()))
        }
        Some(1) => {
            end(Outcome::Failed);
            Err(Status::data_loss(number.to_string()))
        }
        Some(2) => {
            end(Outcome::Panicked);
            std::panic::resume_unwind(Box::new("a panic that nobody prints"))
        }
        Some(_) => {
            let mut part = part;
            let but: BTreeSet<_> = ids.into_iter().filter(|_| part.percent(50)).collect();
            end(Outcome::Replied { but: but.clone() });
            Ok(Served { number, batch, but })
        }
        None => {
            end(Outcome::Replied { but: BTreeSet::new() });
            Ok(Served { number, batch, but: BTreeSet::new() })
        }
    }
}

struct InFlight {
    seen: Arc<Mutex<Seen>>,
    key: u64,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        *self.seen.lock().unwrap().in_flight.get_mut(&self.key).unwrap() -= 1;
    }
}

struct Served {
    number: u64,
    batch: Arc<[Element]>,
    but: BTreeSet<usize>,
}

#[expect(clippy::needless_pass_by_value, reason = "the batcher hands it over")]
fn split(served: Served, _: &[ElementSize]) -> Vec<Result<u64, Status>> {
    let failed = |element: &Element| served.but.contains(&element.id);
    let own = |element: &Element| {
        if failed(element) { Err(Status::aborted(served.number.to_string())) } else { Ok(served.number) }
    };
    served.batch.iter().map(own).collect()
}

/// One caller: it adds elements, and waits for their replies or doesn't.
async fn caller(
    batcher: TestBatcher,
    elements: Vec<Element>,
    mut draw: Draw,
    impatience: u64,
) -> Vec<(usize, End)> {
    let mut ends = Vec::new();
    let mut replies = JoinSet::new();
    for element in elements {
        sleep(draw.ms(0, 6)).await;
        let id = element.id;
        let (add_patience, patience) = (draw.percent(impatience), draw.percent(impatience));
        let added = if draw.percent(20) {
            batcher.try_add(element)
        } else if add_patience {
            let Ok(added) = timeout(draw.ms(0, 20), batcher.add(element)).await else {
                ends.push((id, End::GoneAdding));
                continue;
            };
            added
        } else {
            batcher.add(element).await
        };
        let reply = match added {
            Ok(reply) => reply,
            Err(refused) => {
                ends.push((id, End::Refused(refused.reason())));
                assert_eq!(refused.into_element().id, id);
                continue;
            }
        };
        let patience = if patience { draw.ms(0, 40) } else { ms(100_000_000) };
        replies.spawn(async move {
            let end = match timeout(patience, reply).await {
                Ok(Ok(reply)) => End::Reply(reply.into_value()),
                Ok(Err(error)) => {
                    let message = error.cause().map(|status| status.message().to_owned());
                    End::Failed(error.failure(), message)
                }
                Err(_) => End::GoneWaiting,
            };
            (id, end)
        });
    }
    drop(batcher);
    ends.extend(replies.join_all().await);
    ends
}

/// All that there is to see of a run.
struct Finished {
    ends: Vec<(usize, End)>,
    given_back: Vec<usize>,
    totals: Option<BatcherTotals>,
    seen: Seen,
    alive: usize,
}

async fn finish(drawn: &Drawn, draw: &mut Draw) -> Finished {
    let (seen, alive) = (Arc::new(Mutex::new(Seen::default())), Arc::new(()));
    let settings = RetrySettings::builder().max_attempts(2).initial_retry_delay(ms(3)).jittered(false);
    let retryer = Retryer::new(&settings.build().unwrap(), [Code::Unavailable]);
    let call = BatchCall::closure(retryer, {
        let (seen, draw, drawn) = (Arc::clone(&seen), Arc::new(Mutex::new(draw.fork())), drawn.clone());
        move |_, batch| serve(Arc::clone(&seen), Arc::clone(&draw), drawn.clone(), batch)
    });
    let mut batching = call.split(split).settings(drawn.settings.clone()).rules(drawn.rules);
    batching = batching.bytes(|element: &Element| element.bytes);
    batching = if drawn.is_ordered {
        batching.ordering_key(|element: &Element| element.key.to_string())
    } else {
        batching.discriminator(|element: &Element| element.key.to_string())
    };
    let (batcher, driver) = Batcher::pair(batching).unwrap();
    let driver = tokio::spawn(driver);

    let mut elements: Vec<Vec<Element>> = (0..drawn.tasks).map(|_| Vec::new()).collect();
    for id in 0..drawn.elements {
        let (key, bytes) = (draw.below(drawn.keys) + 1, draw.below(25));
        elements[id % drawn.tasks].push(Element { id, key, bytes, _alive: Arc::clone(&alive) });
    }
    let mut callers = JoinSet::new();
    for elements in elements {
        callers.spawn(caller(batcher.clone(), elements, draw.fork(), drawn.impatience));
    }
    let ends = tokio::spawn(callers.join_all());

    let given_back = timeout(drawn.ends_at, async {
        // Until the callers have gone, or the moment comes.
        while !ends.is_finished() {
            sleep(ms(1)).await;
        }
    });
    let _ = given_back.await;
    let mut given_back = Vec::new();
    let totals = match drawn.ending {
        Ending::Close => Some(batcher.close().await),
        Ending::GiveBack => {
            given_back = batcher.give_back().into_iter().map(|element| element.id).collect();
            Some(batcher.close().await)
        }
        Ending::Abort => {
            batcher.abort();
            Some(batcher.close().await)
        }
        Ending::DropHandles => {
            drop(batcher);
            None
        }
        Ending::DropDriver => {
            driver.abort();
            None
        }
    };
    let ends = timeout(ms(10_000_000), ends).await.expect("an element never ends").unwrap();
    if drawn.ending != Ending::DropDriver {
        timeout(ms(10_000_000), driver).await.expect("the driver never ends").unwrap();
    }
    // The driver's task drops what was aborted.
    sleep(ms(1)).await;
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    let ends = ends.into_iter().flatten().collect();
    Finished { ends, given_back, totals, seen, alive: Arc::strong_count(&alive) - 1 }
}

/// Why what a caller got is not the result of the batch that carried its element.
fn wrong(
    end: &End,
    carried: Option<&Outcome>,
    number: Option<u64>,
    id: usize,
    is_given_back: bool,
    drawn: &Drawn,
) -> bool {
    let is = |text: &Option<String>| text.as_deref() == number.map(|number| number.to_string()).as_deref();
    let right = match (end, carried) {
        (End::Reply(by), Some(Outcome::Replied { but })) => Some(*by) == number && !but.contains(&id),
        (End::Failed(ElementFailure::Element, text), Some(Outcome::Replied { but })) => {
            is(text) && but.contains(&id)
        }
        (End::Failed(ElementFailure::Batch, text), Some(Outcome::Failed)) => is(text),
        (End::Failed(ElementFailure::GivenBack, None), None) => is_given_back,
        (End::Failed(ElementFailure::Aborted, None), _) => drawn.ending == Ending::Abort,
        (End::Failed(ElementFailure::TaskGone, None), _) | (End::Refused(AddRefusal::TaskGone), None) => {
            drawn.ending == Ending::DropDriver
        }
        // One may be taken in the moment in which its caller goes away.
        (End::Refused(_), None)
        | (End::GoneAdding, _)
        | (End::Failed(ElementFailure::Panicked, None), Some(Outcome::Panicked)) => true,
        (End::GoneWaiting, carried) => carried.is_some() || is_given_back || drawn.ending != Ending::Close,
        _ => false,
    };
    !right || (is_given_back && carried.is_some())
}

fn check(drawn: &Drawn, finished: &Finished) -> Vec<String> {
    let Finished { ends, given_back, totals, seen, alive } = finished;
    let mut broken = seen.broken.clone();
    let mut ids: Vec<_> = ends.iter().map(|(id, _)| *id).collect();
    ids.sort_unstable();
    if ids != (0..drawn.elements).collect::<Vec<_>>() {
        broken.push("not each element ended once".to_owned());
    }
    let mut carried = BTreeMap::new();
    for batch in seen.batches.values() {
        for id in &batch.ids {
            if carried.insert(*id, *batch.attempts.last().unwrap()).is_some() {
                broken.push(format!("element {id} was in two batches"));
            }
        }
    }
    for (id, end) in ends {
        let number = carried.get(id).copied();
        let outcome = number.map(|number| &seen.attempts[usize::try_from(number).unwrap()]);
        if wrong(end, outcome, number, *id, given_back.contains(id), drawn) {
            broken.push(format!("element {id}: {end:?}, but its batch: {outcome:?}"));
        }
    }
    if *alive != 0 {
        broken.push(format!("{alive} elements are still there"));
    }
    if let Some(totals) = totals {
        let count = |matches: fn(&End) -> bool| ends.iter().filter(|(_, end)| matches(end)).count() as u64;
        let taken = count(|end| !matches!(end, End::Refused(_) | End::GoneAdding));
        let most = taken + count(|end| *end == End::GoneAdding);
        if totals.elements() < taken || totals.elements() > most {
            broken.push(format!("{totals:?}, but {taken} to {most} elements were taken"));
        }
        if drawn.ending != Ending::Abort && totals.batches() != seen.batches.len() as u64 {
            broken.push(format!("{totals:?}, but the server saw {} batches", seen.batches.len()));
        }
    }
    broken
}

fn drawn(seed: u64) -> (Drawn, Draw) {
    let mut draw = Draw::new(seed);
    (Drawn::new(&mut draw, 200), draw)
}

fn outcome(seed: u64, faults: &[(u64, u64)]) -> SeedOutcome {
    let (mut drawn, mut draw) = drawn(seed);
    drawn.faults = Arc::new(faults.iter().copied().collect());
    let finished = virtual_time().block_on(finish(&drawn, &mut draw));
    let mut outcome = SeedOutcome::of(format!("{drawn:?}"));
    outcome.broken = check(&drawn, &finished);
    let _infallible = write!(outcome.story, "\n{:?}\n{:?}", finished.totals, finished.ends);
    outcome
}

#[test]
fn each_element_ends_once_with_the_result_of_its_batch() {
    Seeds::of("each_element_ends_once", 400).run_schedules(|seed| faults(seed, drawn(seed).0.share), outcome);
}

#[test]
fn a_hundred_thousand_elements() {
    let mut draw = Draw::new(7);
    let drawn = Drawn {
        elements: 100_000,
        tasks: 50,
        latency: 10,
        faults: Arc::new(faults(7, 5).into_iter().collect()),
        impatience: 10,
        keys: 4,
        ending: Ending::Close,
        ends_at: ms(100_000_000),
        ..Drawn::new(&mut draw, 0)
    };
    let finished = virtual_time().block_on(finish(&drawn, &mut draw));
    assert_eq!(check(&drawn, &finished), [""; 0]);
    assert!(finished.totals.unwrap().elements() > 50_000, "{:?}", finished.totals);
}
