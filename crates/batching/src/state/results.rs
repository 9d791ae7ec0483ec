//! How each element of a batch ends.

use crate::element::{BatchDetail, Batched, ElementError, ElementFailure, ElementResult};
use crate::outcome::Ended;
use std::sync::Arc;

/// How each element of a batch ends.
pub(crate) fn results<R, E>(ended: Option<Ended<R, E>>, elements: usize) -> Vec<ElementResult<R, E>> {
    let Some(Ended { replies, report, .. }) = ended else {
        let error = ElementError::without_cause(ElementFailure::Panicked);
        return std::iter::repeat_with(|| Err(error.clone())).take(elements).collect();
    };
    let batch = Arc::new(BatchDetail { elements, report });
    let failed = |failure, cause: Option<E>| {
        let error = ElementError::new(failure, cause.map(Arc::new), Some(Arc::clone(&batch)));
        std::iter::repeat_with(|| Err(error.clone())).take(elements).collect()
    };
    match replies {
        Ok(replies) => {
            let result = |result| match result {
                Ok(value) => Ok(Batched::new(value, Arc::clone(&batch))),
                Err(own) => {
                    let (own, batch) = (Some(Arc::new(own)), Some(Arc::clone(&batch)));
                    Err(ElementError::new(ElementFailure::Element, own, batch))
                }
            };
            replies.into_iter().map(result).collect()
        }
        Err((failure, cause)) => failed(failure, cause),
    }
}
