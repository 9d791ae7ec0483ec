//! The options that operations of every kind have.

use crate::operation::{JitterSeeds, Observers, OperationObserver, Retry};
use gax_retry::settings::Override;
use gax_retry::{Compatibility, Environment, Policy, RetryBudget};
use std::fmt;
use std::sync::Arc;

/// The options that gRPC calls, HTTP requests and closures have in common. Pass them to `options(..)` of `RetryLayer`,
/// `HttpRetryLayer` and [`Retryer`](crate::Retryer), or to `with_options(..)` of a generated client's settings.
///
/// An option that is set replaces an earlier value. An option that is not set keeps it. Observers are added.
///
/// # Defaults
///
/// | option | default |
/// | --- | --- |
/// | [`compatibility`](Self::compatibility) | [`Compatibility::Grpc`] for a table in the dialect `Grpc`, else [`Compatibility::Documented`] |
/// | [`retry_budget`](Self::retry_budget) | the table's `retryThrottling`, or a policy's own; else none |
/// | [`retries_enabled`](Self::retries_enabled) | true |
/// | [`nested_retries`](Self::nested_retries) | true |
/// | [`server_delays`](Self::server_delays) | depends on the compatibility or the preset |
/// | [`environment`](Self::environment) | ignored |
/// | [`reports`](Self::reports) | false |
/// | [`observer`](Self::observer), [`on_retry`](Self::on_retry) | none, which costs nothing |
/// | [`jitter_seed`](Self::jitter_seed) | one generator per thread, seeded by the system |
///
/// # Examples
///
/// ```
/// use gax_driver::{Code, Environment, OperationOptions, RetrySettings};
/// use tonic_gax::RetryLayer;
///
/// let settings = RetrySettings::builder().max_attempts(3).build()?;
/// let options = OperationOptions::new().environment(Environment::read()?).nested_retries(false);
/// let layer = RetryLayer::new((settings, [Code::Unavailable])).options(options.reports(true));
/// # drop(layer);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct OperationOptions {
    #[doc(hidden)]
    pub compatibility: Option<Compatibility>,
    retry_budget: Override<RetryBudget>,
    retries_enabled: Option<bool>,
    nested_retries: Option<bool>,
    server_delays: Option<bool>,
    environment: Option<Environment>,
    reports: Option<bool>,
    #[doc(hidden)]
    pub jitter: JitterSeeds,
    #[doc(hidden)]
    pub observers: Observers,
}

/// Short: what is not set is left out.
impl fmt::Debug for OperationOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("OperationOptions");
        if let Some(compatibility) = self.compatibility {
            text.field("compatibility", &compatibility);
        }
        for (name, switch) in [
            ("retries_enabled", self.retries_enabled),
            ("nested_retries", self.nested_retries),
            ("server_delays", self.server_delays),
            ("reports", self.reports),
        ] {
            if let Some(is_on) = switch {
                text.field(name, &is_on);
            }
        }
        if let Some(environment) = &self.environment {
            text.field("environment", environment);
        }
        text.finish_non_exhaustive()
    }
}

impl OperationOptions {
    /// Options that are all unset.
    pub fn new() -> Self {
        Self::default()
    }

    gax_text::setters! { self:
        /// The rules that turn settings into attempts. They have no effect on presets, policies and strategies, which have their own
        /// rules.
        pub compatibility(compatibility: Compatibility) => self.compatibility = Some(compatibility);

        /// The budget that the retries of all operations share: see [`RetryBudget`]. `None` means no budget. Clones share it,
        /// and so does everything that is made from them, for all servers. gRPC has a budget for each server: see
        /// `RetryLayer::server_retry_budget`.
        ///
        /// # Examples
        ///
        /// ```
        /// use gax_driver::{Code, OperationOptions, RetryBudget, RetrySettings, Retryer, StopReason};
        /// use std::time::Duration;
        ///
        /// let settings = RetrySettings::builder().max_attempts(9).initial_retry_delay(Duration::ZERO).build()?;
        /// let retryer = Retryer::new(&settings, [Code::Unavailable])
        ///     .options(OperationOptions::new().retry_budget(RetryBudget::tokens(4, 0.1)));
        /// let error = retryer.run_blocking(|_| Err::<(), _>(tonic::Status::unavailable("down"))).unwrap_err();
        /// // Half of the four tokens are left after two attempts.
        /// assert_eq!((error.report().attempts().len(), error.stop_reason()), (2, Some(StopReason::Throttled)));
        /// assert_eq!(error.last().unwrap().message(), "down");
        /// # Ok::<(), gax_driver::SettingsError>(())
        /// ```
        pub retry_budget(budget: impl Into<Option<RetryBudget>>) =>
            self.retry_budget = budget.into().map_or(Override::Disabled, Override::Set);

        /// Sets whether anything is retried. With `false`, every operation makes one attempt, regardless of its settings and
        /// [`CallOptions`](crate::CallOptions), and nothing is hedged. Timeouts, reports and transparent retries of requests that were
        /// certainly not sent remain.
        ///
        /// This turns retries off without changing the type of the service. With `tower::util::option_layer`, the bodies of responses
        /// would have another type.
        ///
        /// # Examples
        ///
        /// ```
        /// use gax_driver::OperationOptions;
        /// use tonic_gax::{MethodPolicies, RetryLayer};
        ///
        /// fn layer(policies: MethodPolicies) -> RetryLayer {
        ///     let is_enabled = std::env::var_os("NO_RETRIES").is_none();
        ///     RetryLayer::new(policies).options(OperationOptions::new().retries_enabled(is_enabled))
        /// }
        /// # let _ = layer;
        /// ```
        pub retries_enabled(enabled: bool) => self.retries_enabled = Some(enabled);

        /// Sets whether operations of a server's handler are retried if the request that is being served is itself a retry, by its
        /// header `grpc-previous-rpc-attempts`. If not, such an operation makes one attempt, and if another would follow, it
        /// ends with [`StopReason::NestedRetry`](crate::StopReason::NestedRetry): the sender of the request retries it as a
        /// whole. A request that provably was not sent is still sent again.
        ///
        /// `DeadlineLayer` has to be around the server, and other tasks and threads have to
        /// [belong](crate::inbound::Inbound) to the request.
        pub nested_retries(allowed: bool) => self.nested_retries = Some(allowed);

        /// Sets whether the delays that servers ask for are applied: over gRPC `grpc-retry-pushback-ms`, `google.rpc.RetryInfo` and
        /// `Retry-After`; over HTTP the header `Retry-After`, a number of seconds or a date, or a `google.rpc.RetryInfo` in a
        /// JSON body. A date counts from the response's `Date`, or else from this machine's clock. A random time is added to
        /// the delay, up to the back-off or half of the delay.
        ///
        /// [`Compatibility::Documented`] applies all of them, [`Compatibility::Grpc`] only the pushback, and
        /// [`Compatibility::GaxJava`] none.
        pub server_delays(applied: bool) => self.server_delays = Some(applied);

        /// Lets operators bound operations by environment variables, which override everything else, including
        /// [`CallOptions`](crate::CallOptions): see [`Environment`].
        pub environment(environment: Environment) => self.environment = Some(environment);

        /// Sets whether every response carries its [`OperationReport`](crate::OperationReport). By default one does if there is more
        /// to report than that the first attempt succeeded, or if the [call asks for it](crate::CallOptions::report). Over gRPC
        /// it takes three allocations a call. A closure's result has its report in any case.
        pub reports(reports: bool) => self.reports = Some(reports);

        /// Draws the jitter of the n-th operation from the sequence of this seed plus n, so that a run can be repeated.
        pub jitter_seed(seed: u64) => self.jitter = JitterSeeds::from(seed);
    }

    /// Installs an observer, which is notified of every operation. Several are notified in the order of installation.
    ///
    /// # Examples
    ///
    /// See [`OperationObserver`].
    pub fn observer(mut self, observer: Arc<dyn OperationObserver>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Calls the closure whenever an attempt has failed and another one follows, for a line in the log.
    ///
    /// # Examples
    ///
    /// ```
    /// use gax_driver::OperationOptions;
    /// use tonic_gax::{MethodPolicies, RetryLayer};
    ///
    /// # fn example(policies: MethodPolicies) {
    /// let options = OperationOptions::new().on_retry(|retry| eprintln!("{retry}"));
    /// let layer = RetryLayer::new(policies).options(options);
    /// # drop(layer);
    /// # }
    /// ```
    pub fn on_retry(mut self, log: impl Fn(&Retry<'_>) + Send + Sync + 'static) -> Self {
        self.observers.on_retry(log);
        self
    }

    /// Turns jitter off, regardless of the settings: every wait is the whole delay. Use it in tests with exact times.
    pub fn without_jitter(self) -> Self {
        Self { jitter: JitterSeeds::Off, ..self }
    }

    /// Sets these options over the ones that were set before.
    pub fn set(&mut self, options: Self) {
        let before = std::mem::take(self);
        *self = Self {
            compatibility: options.compatibility.or(before.compatibility),
            retry_budget: match options.retry_budget {
                Override::Unset => before.retry_budget,
                set => set,
            },
            retries_enabled: options.retries_enabled.or(before.retries_enabled),
            nested_retries: options.nested_retries.or(before.nested_retries),
            server_delays: options.server_delays.or(before.server_delays),
            environment: options.environment.or(before.environment),
            reports: options.reports.or(before.reports),
            jitter: match options.jitter {
                JitterSeeds::Threads => before.jitter,
                set => set,
            },
            observers: before.observers.and(options.observers),
        };
    }

    /// The retry budget that applies, where `own` is that of the table or of the policy.
    #[must_use]
    pub fn budget_over(&self, own: Option<RetryBudget>) -> Option<RetryBudget> {
        self.retry_budget.clone().over(own)
    }

    /// The policy with these options, except those that apply to every call whatever its own options are: [`caps`](Self::caps) and
    /// [`retries_are_enabled`](Self::retries_are_enabled).
    pub fn applied_to(&self, policy: Policy) -> Policy {
        let own = policy.budget().cloned();
        let mut policy = policy.with_budget(self.budget_over(own));
        if let Some(allowed) = self.nested_retries {
            policy = policy.with_nested_retries(allowed);
        }
        if let Some(applied) = self.server_delays {
            policy = policy.with_server_delays(applied);
        }
        policy
    }

    gax_text::getters! { self:
        /// Returns whether anything is retried. Default: true.
        pub retries_are_enabled: bool = self.retries_enabled.unwrap_or(true);

        /// Returns whether successful operations are reported. Default: false.
        pub wants_reports: bool = self.reports.unwrap_or_default();

        /// The most that operators allow, by the [environment](Self::environment). Default: no limits.
        pub caps: Environment = self.environment.unwrap_or_default();
    }
}
