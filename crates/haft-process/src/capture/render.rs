//! Terminal output as text.
