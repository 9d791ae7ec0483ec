//! Budgets: their limits, not what is left of them.

use crate::RetryBudget;
use crate::budget::BudgetLimits;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The bounds that a budget moves numbers to (see [`RetryBudget::tokens`]). A file with other numbers is wrong.
const MIN_TOKENS: f64 = 0.001;
const MOST: f64 = 1e9;

/// The words of both kinds: tokens as `[retry_throttling]` of a table has them, and a ratio.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct BudgetFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_per_second: Option<u32>,
}

/// A number within bounds, or what is wrong with it.
fn within<E: serde::de::Error>(name: &str, number: f64, least: f64) -> Result<f64, E> {
    if (least..=MOST).contains(&number) {
        return Ok(number);
    }
    Err(E::custom(format_args!("{name} is {number}, but must be a number from {least} to {MOST}")))
}

impl Serialize for RetryBudget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = match self.limits() {
            BudgetLimits::Tokens { max, ratio } => {
                BudgetFields { max_tokens: Some(max), token_ratio: Some(ratio), ..BudgetFields::default() }
            }
            BudgetLimits::Ratio { ratio, per_second } => BudgetFields {
                ratio: Some(ratio),
                min_per_second: Some(per_second),
                ..BudgetFields::default()
            },
        };
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RetryBudget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match BudgetFields::deserialize(deserializer)? {
            BudgetFields {
                max_tokens: Some(max),
                token_ratio: Some(ratio),
                ratio: None,
                min_per_second: None,
            } => {
                let max = within("max_tokens", max, MIN_TOKENS)?;
                Ok(Self::tokens(max, within("token_ratio", ratio, 0.0)?))
            }
            BudgetFields { max_tokens: None, token_ratio: None, ratio: Some(ratio), min_per_second } => {
                let budget = Self::ratio(within("ratio", ratio, 0.0)?);
                Ok(match min_per_second {
                    Some(retries) => budget.min_per_second(retries),
                    None => budget,
                })
            }
            _ => Err(D::Error::custom(
                "a retry budget has either max_tokens and token_ratio, or ratio and, if wanted, min_per_second",
            )),
        }
    }
}
