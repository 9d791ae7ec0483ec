//! The one timer slot of an operation.

use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::{Instant, Sleep, sleep_until};

pin_project! {
    /// A slot that waits for one moment at a time: an attempt's deadline or the end of a delay.
    ///
    /// Nothing is registered with the runtime before the first poll that has to wait, and the slot is
    /// used again for every later moment.
    #[derive(Debug, Default)]
    pub(crate) struct Timer {
        #[pin]
        sleep: Option<Sleep>,
    }
}

impl Timer {
    /// Ready once the moment has come. `None` never comes.
    pub(crate) fn poll_at(self: Pin<&mut Self>, moment: Option<Instant>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(moment) = moment else {
            return Poll::Pending;
        };
        let mut slot = self.project().sleep;
        if let Some(sleep) = slot.as_mut().as_pin_mut() {
            if sleep.deadline() != moment {
                sleep.reset(moment);
            }
        } else {
            slot.set(Some(sleep_until(moment)));
        }
        slot.as_pin_mut().map_or(Poll::Pending, |sleep| sleep.poll(cx))
    }
}
