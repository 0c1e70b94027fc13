//! Variables: values, attributes, and the dynamic scopes of function calls.

mod assigned;
mod associative;
mod attributes;
mod error;
mod indexed;
mod scopes;
mod separators;
mod value;

pub use assigned::{Assigned, AssignedElement, AssignedValue};
pub use associative::AssociativeArray;
pub(crate) use associative::hash as bash_hash;
pub use attributes::Attributes;
pub use error::VariableError;
pub use indexed::IndexedArray;
pub use scopes::Variables;
pub(crate) use scopes::{AssignmentLifetime, MAX_PROGRAM_BYTES};
pub(crate) use separators::Separators;
pub use value::{Variable, VariableValue};

/// Tells whether bytes are a valid name of a variable.
#[must_use]
pub fn is_name(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}
