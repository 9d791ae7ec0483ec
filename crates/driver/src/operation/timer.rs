//! The one timer slot of an operation.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::runtime::{Handle, Id};
use tokio::time::{Instant, Sleep, sleep_until};

thread_local! {
    /// The timer of the operation that ended last on this thread.
    ///
    /// It stays registered with its runtime. An operation that takes it over only moves its moment on, which costs
    /// next to nothing, while to register one that is the earliest of all wakes the runtime's driver: a system call
    /// for each call, where calls are made one at a time. A timer that is not reused fires once, without an effect.
    static SPARE: Cell<Option<Registered>> = const { Cell::new(None) };
}

/// A timer, and the runtime that it belongs to.
#[derive(Debug)]
struct Registered {
    runtime: Id,
    sleep: Pin<Box<Sleep>>,
}

impl Registered {
    /// A timer for that moment: the spare one, if it belongs to this runtime.
    fn at(moment: Instant) -> Self {
        let runtime = Handle::current().id();
        match SPARE.take() {
            Some(mut spare) if spare.runtime == runtime => {
                spare.sleep.as_mut().reset(moment);
                spare
            }
            _ => Self { runtime, sleep: Box::pin(sleep_until(moment)) },
        }
    }
}

/// A slot that waits for one moment at a time: an attempt's deadline or the end of a delay.
///
/// Nothing is taken before the first poll that has to wait, and the slot is used again for every later
/// moment.
#[derive(Debug, Default)]
pub struct Timer {
    registered: Option<Registered>,
}

impl Timer {
    /// Ready once the moment has come. `None` never comes.
    pub fn poll_at(&mut self, moment: Option<Instant>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(moment) = moment else {
            return Poll::Pending;
        };
        let Registered { sleep, .. } = self.registered.get_or_insert_with(|| Registered::at(moment));
        if sleep.deadline() != moment {
            sleep.as_mut().reset(moment);
        }
        sleep.as_mut().poll(cx)
    }
}

impl Drop for Timer {
    #[inline]
    fn drop(&mut self) {
        if self.registered.is_some() {
            self.retire();
        }
    }
}

impl Timer {
    /// Leaves the timer to the next operation.
    #[inline(never)]
    fn retire(&mut self) {
        // In a thread that is ending this fails, and no spare timer is needed.
        if let Some(registered) = self.registered.take() {
            let _ending = SPARE.try_with(|spare| spare.set(Some(registered)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::clock::Clock;
    use std::future::poll_fn;
    use std::time::Duration;
    use tokio::runtime::{Builder, Runtime};

    fn runtime() -> Runtime {
        Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
    }

    /// Waits for a second; the timer that did.
    fn wait(runtime: &Runtime) -> *const Sleep {
        runtime.block_on(async {
            let (mut timer, clock) = (Timer::default(), Clock::start());
            poll_fn(|cx| timer.poll_at(clock.at(Duration::from_secs(1)), cx)).await;
            assert_eq!(clock.elapsed(), Duration::from_secs(1));
            &raw const *timer.registered.as_ref().unwrap().sleep
        })
    }

    fn spare() -> Option<*const Sleep> {
        let spare = SPARE.take();
        let place = spare.as_ref().map(|spare| &raw const *spare.sleep);
        SPARE.set(spare);
        place
    }

    #[test]
    fn a_timer_is_left_to_the_next_operation_of_the_same_runtime() {
        let one = runtime();
        let first = wait(&one);
        assert_eq!(spare(), Some(first));
        assert_eq!(wait(&one), first);
        // It can't wait any more.
        drop(one);
        assert_ne!(wait(&runtime()), first);
    }
}
