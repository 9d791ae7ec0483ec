//! From a request to its reply.

use super::exchange::{Exchange, Stop};
use super::route::Route;
use crate::network::wait;
use crate::storage::fault::Action;
use crate::storage::reply_body::{Broken, ReplyBody};
use crate::storage::shared::Shared;
use crate::storage::state::{Protocol, Stage};
use crate::storage::wire::{Reply, Target};
use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use http_body::Body;
use std::sync::Arc;

/// Serves a request.
pub(crate) async fn serve<B>(
    shared: Arc<Shared>,
    request: http::Request<B>,
) -> Result<http::Response<ReplyBody>, Broken>
where
    B: Body<Data = Bytes> + Unpin,
{
    let (head, mut body) = request.into_parts();
    let target = Target::of(&head.uri);
    let route = Route::of(&head, &target);
    let call = route.call();
    let (object, is_universal) = shared.change(|state| {
        let session = route.session().and_then(|id| state.sessions.get(id));
        let is_universal = session.is_some_and(|session| {
            session.protocol == Protocol::Universal && matches!(session.stage, Stage::Active)
        });
        (route.object(&target, state), is_universal)
    });
    let name = object.as_ref().map_or("", |(_, name)| name);
    let (index, armed) = shared.arrive(&head, call, name);
    let mut exchange = Exchange { shared, index, armed, is_universal };
    let reply = match exchange.before(&route, object.as_ref(), &mut body).await {
        Ok(()) => exchange.carry_out(route, &head, &target, &mut body).await,
        Err(stop) => Err(stop),
    };
    let mut reply = match reply {
        Ok(reply) => reply,
        Err(Stop::Reply(reply)) => *reply,
        Err(Stop::Broken) => return Err(Broken),
    };
    let mut cut = None;
    match exchange.action() {
        Some(Action::LostReply) => return Err(Broken),
        Some(Action::CutReply(bytes)) => cut = Some(*bytes),
        Some(Action::Header(name, Some(value))) => drop(reply.headers.insert(name, value.clone())),
        Some(Action::Header(name, None)) => drop(reply.headers.remove(name)),
        _ => {}
    }
    let Exchange { shared, index, armed, .. } = exchange;
    let is_empty = reply.body.is_empty();
    shared.note(index, |arrival| {
        arrival.status = Some(reply.status);
        arrival.is_whole = is_empty && cut.is_none();
    });
    let mut response = http::Response::new(());
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = std::mem::take(&mut reply.headers);
    let body = ReplyBody::new(shared, index, call, armed, reply);
    Ok(response.map(|()| match cut {
        Some(bytes) => body.cut_after(bytes),
        None => body,
    }))
}

impl Exchange {
    /// The fault that happens to a request before it is carried out.
    async fn before<B: Body<Data = Bytes> + Unpin>(
        &mut self,
        route: &Route,
        object: Option<&(String, String)>,
        body: &mut B,
    ) -> Result<(), Stop> {
        let Some(fault) = self.armed.at_once.clone() else { return Ok(()) };
        match &fault.action {
            Action::Reset => Err(Stop::Broken),
            Action::Stall => self.stall().await,
            Action::Delay(time) => {
                wait(*time).await;
                Ok(())
            }
            Action::Status(status) => {
                if !fault.is_early {
                    self.drain(body).await?;
                }
                Err(Stop::Reply(Box::new(self.reply_of(&fault, *status))))
            }
            Action::Expired(status) => {
                self.shared.change(|state| {
                    let session = route.session().and_then(|id| state.sessions.get_mut(id));
                    session.map(|session| session.stage = Stage::Expired(*status))
                });
                Ok(())
            }
            Action::Overwrite(other) => {
                if let Some((bucket, name)) = object {
                    drop(self.shared.change(|state| state.objects.put(bucket, name, (**other).clone())));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    async fn carry_out<B: Body<Data = Bytes> + Unpin>(
        &mut self,
        route: Route,
        head: &Parts,
        target: &Target,
        body: &mut B,
    ) -> Result<Reply, Stop> {
        match route {
            Route::Insert { bucket, is_multipart } => {
                return self.insert(head, target, body, bucket, is_multipart).await;
            }
            Route::Start { bucket, protocol } => {
                return self.start(head, target, body, bucket, protocol).await;
            }
            Route::Upload { id, protocol: Protocol::Resumable } => return self.upload(head, body, &id).await,
            Route::Upload { id, protocol: Protocol::Universal } => {
                return self.upload_universal(head, body, &id).await;
            }
            _ => self.drain(body).await?,
        }
        match route {
            Route::Query { id, protocol: Protocol::Resumable } => self.query(head, &id),
            Route::Query { id, protocol: Protocol::Universal } => self.query_universal(&id),
            Route::Cancel { id, protocol: Protocol::Resumable } => self.cancel(&id),
            Route::Cancel { id, protocol: Protocol::Universal } => self.cancel_universal(&id),
            Route::Download { bucket, name } => self.download(head, target, &bucket, &name),
            Route::Get { bucket, name } => self.get(target, &bucket, &name),
            Route::List { bucket } => self.list(target, &bucket),
            Route::Delete { bucket, name } => self.delete(target, &bucket, &name),
            Route::NoCommand => Err(Stop::error(400, "X-Goog-Upload-Command is missing, or no command.")),
            _ => Err(Stop::error(404, "Not Found")),
        }
    }
}
