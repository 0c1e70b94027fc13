//! `asort` and `asorti`.

use std::cmp::Ordering;

use super::{AwkRun, Evaluated};
use crate::awk::tree::{AwkExpression, AwkPlace};
use crate::awk::value::AwkValue;

impl AwkRun<'_, '_, '_> {
    /// Sorts the values or the subscripts of an array.
    pub(super) fn asort(&mut self, arguments: &[AwkExpression], by_subscript: bool) -> Evaluated<AwkValue> {
        let AwkExpression::Place(AwkPlace::Variable(source)) = &arguments[0] else {
            return self.fatal("asort: the first argument is not an array");
        };
        let source = self.array(*source)?;
        let mut values = match by_subscript {
            true => source.borrow().keys().into_iter().map(AwkValue::Text).collect(),
            false => source.borrow().values(),
        };
        let convfmt = self.special.convfmt.clone();
        values.sort_by(|left, right| compare(left, right, &convfmt));
        let target = match arguments.get(1) {
            Some(AwkExpression::Place(AwkPlace::Variable(target))) => self.array(*target)?,
            _ => source,
        };
        #[expect(clippy::cast_precision_loss, reason = "the count is small")]
        let count = values.len() as f64;
        target.borrow_mut().fill(values);
        Ok(AwkValue::Number(count))
    }
}

/// Numbers come before texts.
fn compare(left: &AwkValue, right: &AwkValue, convfmt: &[u8]) -> Ordering {
    match (left.as_number(), right.as_number()) {
        (Some(first), Some(second)) => {
            let by_text = || left.bytes(convfmt).cmp(&right.bytes(convfmt));
            first.partial_cmp(&second).unwrap_or(Ordering::Equal).then_with(by_text)
        }
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.bytes(convfmt).cmp(&right.bytes(convfmt)),
    }
}
