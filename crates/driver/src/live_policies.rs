//! Policies that can be replaced.

use crate::follower::{CurrentPolicies, Follow, Follower};
use crate::locked::Locked;
use crate::watch_state::WatchState;
use gax_retry::MethodPolicies;
use std::sync::{Arc, Weak};
use tokio::sync::watch;

/// The policies of layers and clients, which can be replaced while they are in use. Use it to change settings without a restart.
///
/// Give it to `RetryLayer::live`, to `live` of a generated client's settings, to `HttpRetryLayer::live`, or to
/// [`Retryer::live`](crate::Retryer::live); any number of them follow it. A clone is the same.
///
/// * An operation keeps the settings that it started with.
/// * Settings in code take precedence over each replacement.
/// * The [throttling](MethodPolicies::throttling) is one budget for all. Policies with the same numbers keep its tokens.
/// * Calls hold a lock only while they take a reference to the settings.
///
/// Whoever replaces the policies checks them first. For retry tables, the `SettingsHandle` of `gax-table` does.
///
/// Versions count from 1, the first policies. Reports have their version in
/// [`OperationReport::settings_version`](crate::OperationReport::settings_version), observers in
/// [`OperationInfo::settings_version`](crate::observe::OperationInfo::settings_version).
///
/// # Examples
///
/// ```
/// use gax_driver::{Code, LivePolicies, RetrySettings, SettingsError};
/// use tonic_gax::RetryLayer;
///
/// let attempts = |count| Ok::<_, SettingsError>((RetrySettings::builder().max_attempts(count).build()?, [Code::Unavailable]));
/// let policies = LivePolicies::new(attempts(2)?);
/// let layer = RetryLayer::live(&policies);
///
/// // While calls are made through the layer:
/// assert_eq!(policies.replace(attempts(4)?), 2);
/// # drop(layer);
/// # Ok::<(), SettingsError>(())
/// ```
#[derive(Clone)]
pub struct LivePolicies {
    hub: Arc<Hub>,
}

struct Hub {
    state: Locked<State>,
    versions: watch::Sender<u64>,
    watch: Arc<WatchState>,
}

struct State {
    current: CurrentPolicies,
    followers: Vec<Weak<dyn Follow>>,
}

impl LivePolicies {
    /// Makes them with their first version.
    #[must_use]
    pub fn new(policies: impl Into<MethodPolicies>) -> Self {
        let current = CurrentPolicies { version: Some(1), ..CurrentPolicies::fixed(policies.into()) };
        let state = Locked::new(State { current, followers: Vec::new() });
        let (versions, _) = watch::channel(1);
        Self { hub: Arc::new(Hub { state, versions, watch: Arc::default() }) }
    }

    /// Replaces them for all operations that begin from now on. All who follow them change together. Returns the version of the new
    /// ones.
    pub fn replace(&self, policies: impl Into<MethodPolicies>) -> u64 {
        let policies = policies.into();
        let mut state = self.hub.state.lock();
        let before = &state.current;
        let throttling = policies.own_throttling();
        let is_kept = throttling == before.policies.own_throttling();
        let budget =
            if is_kept { before.budget.clone() } else { throttling.map(|throttling| throttling.budget()) };
        let version = self.version().saturating_add(1);
        let current = CurrentPolicies { policies, version: Some(version), budget };
        let followers: Vec<_> = state.followers.iter().filter_map(Weak::upgrade).collect();
        state.followers.retain(|follower| follower.strong_count() > 0);
        let prepared: Vec<_> = followers.into_iter().map(|follower| follower.prepare(&current)).collect();
        for put_in_place in prepared {
            put_in_place();
        }
        state.current = current;
        self.hub.versions.send_replace(version);
        version
    }

    /// Returns the version of the policies that operations begin with now.
    #[must_use]
    pub fn version(&self) -> u64 {
        *self.hub.versions.borrow()
    }

    gax_text::getters! { self:
        /// Returns the policies that operations begin with now.
        pub policies: MethodPolicies = self.hub.state.lock().current.policies.clone();

        /// Returns whether the settings' file is watched.
        #[doc(hidden)]
        pub watch_state: &Arc<WatchState> = &self.hub.watch;
    }

    /// Waits until the version is higher than that one, and returns it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
    pub async fn newer_than(&self, version: u64) -> u64 {
        let mut versions = self.hub.versions.subscribe();
        // The sender is here, so that there is always another version to wait for.
        versions.wait_for(|now| *now > version).await.map_or(version, |now| *now)
    }

    /// Makes something of the policies and of those that replace them, for users who know these methods. The closure gets as
    /// well what it has made of the policies before.
    #[doc(hidden)]
    pub fn follow<T: Send + Sync + 'static>(
        &self,
        make: impl Fn(&CurrentPolicies, Option<&T>) -> T + Send + Sync + 'static,
        known: Option<Arc<[Box<str>]>>,
    ) -> Arc<Follower<T>> {
        let mut state = self.hub.state.lock();
        let follower = Arc::new(Follower::new(&state.current, make, known));
        let weak: Weak<Follower<T>> = Arc::downgrade(&follower);
        // Those that are gone are forgotten before more memory is taken for the list.
        if state.followers.len() == state.followers.capacity() {
            state.followers.retain(|known| known.strong_count() > 0);
        }
        state.followers.push(weak);
        follower
    }

    /// The methods that followers know, and whether all followers know theirs.
    #[doc(hidden)]
    #[must_use]
    pub fn known_methods(&self) -> (Vec<Arc<[Box<str>]>>, bool) {
        let followers: Vec<_> = self.hub.state.lock().followers.iter().filter_map(Weak::upgrade).collect();
        let known: Vec<_> = followers.iter().filter_map(|follower| follower.known()).cloned().collect();
        let all_know = known.len() == followers.len();
        (known, all_know)
    }
}

impl AsRef<LivePolicies> for LivePolicies {
    fn as_ref(&self) -> &LivePolicies {
        self
    }
}

// Short: there may be hundreds of methods.
gax_text::short_debug! { self: LivePolicies { version: self.version() } }

#[cfg(test)]
mod tests {
    use super::*;
    use gax_retry::{Code, RetryBudget, RetrySettings, RetryThrottling};
    use std::time::Duration;

    fn policies(attempts: u32, tokens: f64) -> MethodPolicies {
        let settings = RetrySettings::builder().max_attempts(attempts).build().unwrap();
        MethodPolicies::from((settings, [Code::Unavailable])).throttling(RetryThrottling::new(tokens, 0.1))
    }

    /// The budget and the number of attempts that a follower has.
    fn follow(live: &LivePolicies) -> Arc<Follower<(RetryBudget, Option<u32>)>> {
        let attempts = |policies: &MethodPolicies| policies.find("a.B/C")?.retry_settings().max_attempts();
        live.follow(move |current, _| (current.budget.clone().unwrap(), attempts(&current.policies)), None)
    }

    #[test]
    fn a_budget_survives_policies_with_the_same_numbers() {
        let live = LivePolicies::new(policies(2, 4.0));
        let follower = follow(&live);
        let allows = || follower.load().0.allows(|| Duration::ZERO);
        follower.load().0.failed();
        follower.load().0.failed();
        assert!(!allows());
        assert_eq!(live.replace(policies(3, 4.0)), 2);
        assert_eq!(follower.load().1, Some(3));
        assert!(!allows());
        // Whoever comes later has the same one.
        assert!(!follow(&live).load().0.allows(|| Duration::ZERO));
        assert_eq!(live.replace(policies(3, 6.0)), 3);
        assert!(allows());
    }

    #[test]
    fn followers_that_are_gone_are_forgotten() {
        let live = LivePolicies::new(policies(2, 4.0));
        let known: Arc<[Box<str>]> = Arc::new(["a.B/C".into()]);
        let knowing = live.follow(|_, _| (), Some(known));
        let other = follow(&live);
        assert_eq!((live.known_methods().0.len(), live.known_methods().1), (1, false));
        drop(other);
        assert_eq!((live.known_methods().0.len(), live.known_methods().1), (1, true));
        drop(knowing);
        live.replace(policies(2, 4.0));
        assert!(live.known_methods().0.is_empty());
    }
}
