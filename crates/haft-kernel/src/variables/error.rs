//! Why a variable could not be read or changed.

use haft_text::Bytes;

/// A refusal; its text is what bash says after the place.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum VariableError {
    /// The variable may not change.
    #[error("{0}: readonly variable")]
    Readonly(Bytes),
    /// Not a name.
    #[error("`{0}': not a valid identifier")]
    InvalidName(Bytes),
    /// Not an index or key of that array.
    #[error("{0}: bad array subscript")]
    BadSubscript(Bytes),
    /// A list was given for a single element.
    #[error("{0}: cannot assign list to array member")]
    ListToElement(Bytes),
    /// An associative array needs keys.
    #[error("{0}: must use subscript when assigning associative array")]
    KeyRequired(Bytes),
    /// An array of one kind cannot become one of the other.
    #[error("{0}: cannot convert indexed to associative array")]
    IndexedToAssociative(Bytes),
    /// An array of one kind cannot become one of the other.
    #[error("{0}: cannot convert associative to indexed array")]
    AssociativeToIndexed(Bytes),
    /// A reference that leads to itself.
    #[error("warning: {0}: circular name reference")]
    Circular(Bytes),
    /// A reference to something that cannot be a variable.
    #[error("`{0}': invalid variable name for name reference")]
    InvalidReference(Bytes),
    /// The value of an integer variable is not an expression.
    #[error("{0}")]
    Arithmetic(Bytes),
}
