//! Why a variable could not be read or changed.

use haft_text::Bytes;

/// Why an operation on a variable failed. Its text is the message of bash.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum VariableError {
    /// The variable is read-only.
    #[error("{0}: readonly variable")]
    Readonly(Bytes),
    /// The name is invalid.
    #[error("`{0}': not a valid identifier")]
    InvalidName(Bytes),
    /// The subscript is not a valid index or key.
    #[error("{0}: bad array subscript")]
    BadSubscript(Bytes),
    /// A compound value was assigned to an array element.
    #[error("{0}: cannot assign list to array member")]
    ListToElement(Bytes),
    /// An associative array needs subscripts.
    #[error("{0}: must use subscript when assigning associative array")]
    KeyRequired(Bytes),
    /// An indexed array cannot become an associative array.
    #[error("{0}: cannot convert indexed to associative array")]
    IndexedToAssociative(Bytes),
    /// An associative array cannot become an indexed array.
    #[error("{0}: cannot convert associative to indexed array")]
    AssociativeToIndexed(Bytes),
    /// A nameref refers to itself.
    #[error("warning: {0}: circular name reference")]
    Circular(Bytes),
    /// The target of a nameref is not a valid name.
    #[error("`{0}': invalid variable name for name reference")]
    InvalidReference(Bytes),
    /// The value of an integer variable is not an arithmetic expression.
    #[error("{0}")]
    Arithmetic(Bytes),
}
