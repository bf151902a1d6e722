//! What the columns of a Parquet file hold.

use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use parquet::schema::types::ColumnDescriptor;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Unsigned,
    Text,
}

/// What a column holds; `Err` says in words what cannot be used.
pub(crate) fn kind(column: &ColumnDescriptor) -> std::result::Result<Kind, String> {
    if column.path().parts().len() > 1 || column.max_rep_level() > 0 {
        return Err("nested values".to_owned());
    }
    let physical = column.physical_type();
    let text =
        matches!(column.converted_type(), ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON);
    let unsigned = matches!(
        column.converted_type(),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
    );
    match (physical, column.logical_type_ref()) {
        (PhysicalType::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)) => {
            Ok(Kind::Text)
        }
        (PhysicalType::BYTE_ARRAY, None) if text => Ok(Kind::Text),
        (PhysicalType::INT32 | PhysicalType::INT64, Some(LogicalType::Integer(_))) if unsigned => {
            Ok(Kind::Unsigned)
        }
        (PhysicalType::INT32 | PhysicalType::INT64, Some(LogicalType::Integer(_))) => Ok(Kind::Number),
        (_, Some(logical)) => Err(format!("{} values", word(&format!("{logical:?}")))),
        (PhysicalType::INT32 | PhysicalType::INT64, None) => match column.converted_type() {
            _ if unsigned => Ok(Kind::Unsigned),
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64 => Ok(Kind::Number),
            other => Err(format!("{} values", word(&other.to_string()))),
        },
        (PhysicalType::BOOLEAN | PhysicalType::FLOAT | PhysicalType::DOUBLE, None) => Ok(Kind::Number),
        (other, None) => Err(format!("{} values", word(&other.to_string()))),
    }
}

/// The name of a type as people write it: `Timestamp { unit: … }` is `timestamp`, `FIXED_LEN_BYTE_ARRAY` is `fixed len byte array`.
fn word(debug: &str) -> String {
    let end = debug.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(debug.len());
    debug.get(..end).unwrap_or_default().to_lowercase().replace('_', " ")
}
