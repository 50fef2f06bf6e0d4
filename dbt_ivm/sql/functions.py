"""What a function name means to Spark: scalar, aggregate, generator, window, or unsafe."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

AGGREGATES = frozenset(
    """
    any any_value approx_count_distinct approx_percentile array_agg avg bit_and bit_or bit_xor
    bitmap_and_agg bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list collect_set
    corr count count_if count_min_sketch covar_pop covar_samp every first first_value
    histogram_numeric hll_sketch_agg hll_union_agg kurtosis last last_value listagg max max_by
    mean median min min_by mode percentile percentile_approx percentile_cont percentile_disc
    regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
    schema_of_json_agg schema_of_variant_agg skewness some std stddev stddev_pop stddev_samp
    string_agg sum try_avg try_sum var_pop var_samp variance
    """.split()
)
"""Functions of many rows."""

WINDOW_ONLY = frozenset(
    """
    cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number
    """.split()
)
"""Functions that need an OVER clause."""

GENERATORS = frozenset(
    """
    explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack
    variant_explode variant_explode_outer
    """.split()
)
"""Functions of one row that make any number of rows."""

GROUPING = frozenset(
    """
    grouping grouping_id
    """.split()
)
"""Functions of the grouping set a row belongs to."""

NONDETERMINISTIC = frozenset(
    """
    aes_encrypt input_file_block_length input_file_block_start input_file_name java_method
    monotonically_increasing_id rand randn random randstr reflect session_window shuffle
    spark_partition_id try_reflect uniform uuid window window_time
    """.split()
)
"""Functions whose value is not decided by their arguments, or that make rows of a stream."""

CLOCK = frozenset(
    """
    curdate current_date current_timestamp current_timezone localtimestamp now unix_timestamp
    """.split()
)
"""Functions of the time of the query."""

SESSION = frozenset(
    """
    current_catalog current_database current_schema current_user session_user user version
    """.split()
)
"""Functions of who runs the query and where."""

SCALARS = frozenset(
    """
    timestampadd timestampdiff abs acos acosh add_months aes_decrypt aggregate array
    array_append array_compact
    array_contains array_distinct array_except array_insert array_intersect array_join array_max
    array_min array_position array_prepend array_remove array_repeat array_size array_sort
    array_union arrays_overlap arrays_zip ascii asin asinh atan atan2 atanh base64 bigint bin
    binary bit_count bit_get bit_length bitmap_bit_position bitmap_bucket_number bitmap_count
    boolean bround btrim cardinality cast cbrt ceil ceiling char char_length character_length
    chr coalesce collate collation concat concat_ws contains conv convert_timezone cos cosh cot
    crc32 csc date date_add date_diff date_format date_from_unix_date date_part date_sub
    date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear decimal
    decode degrees div double e element_at elt encode endswith equal_null exists exp expm1
    extract factorial filter find_in_set flatten float floor forall format_number format_string
    from_avro from_csv from_json from_protobuf from_unixtime from_utc_timestamp from_xml get
    get_json_object getbit greatest hash hex hll_sketch_estimate hll_union hour hypot if ifnull
    ilike initcap instr int is_valid_utf8 is_variant_null isnan isnotnull isnull
    json_array_length json_object_keys last_day lcase least left len length levenshtein ln
    locate log log10 log1p log2 lower lpad ltrim luhn_check make_date make_dt_interval
    make_interval make_timestamp make_timestamp_ltz make_timestamp_ntz make_valid_utf8
    make_ym_interval map map_concat map_contains_key map_entries map_filter map_from_arrays
    map_from_entries map_keys map_values map_zip_with mask md5 minute mod month monthname
    months_between named_struct nanvl negative next_day nullif nullifzero nvl nvl2 octet_length
    overlay parse_json parse_url pi pmod position positive pow power printf quarter
    radians reduce regexp regexp_count regexp_extract regexp_extract_all regexp_instr
    regexp_like
    regexp_replace regexp_substr repeat replace reverse right rint rlike round rpad rtrim
    schema_of_avro schema_of_csv schema_of_json schema_of_variant schema_of_xml sec second
    sentences sequence sha sha1 sha2 shiftleft shiftright shiftrightunsigned sign signum sin
    sinh size slice smallint sort_array soundex space split split_part sqrt startswith
    str_to_map string struct substr substring substring_index tan tanh timestamp
    timestamp_micros timestamp_millis timestamp_seconds tinyint to_avro to_binary to_char to_csv
    to_date to_json to_number to_protobuf to_timestamp to_timestamp_ltz to_timestamp_ntz
    to_unix_timestamp to_utc_timestamp to_varchar to_variant_object to_xml transform
    transform_keys transform_values translate trim trunc try_add try_aes_decrypt try_divide
    try_element_at try_make_interval try_make_timestamp try_make_timestamp_ltz
    try_make_timestamp_ntz try_mod try_multiply try_parse_json try_parse_url try_subtract
    try_to_binary try_to_number try_to_timestamp try_url_decode try_validate_utf8
    try_variant_get typeof ucase unbase64 unhex unix_date unix_micros unix_millis unix_seconds
    upper url_decode url_encode validate_utf8 variant_get weekday weekofyear when width_bucket
    xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short
    xpath_string xxhash64 year zeroifnull zip_with
    """.split()
)
"""Deterministic functions of one row."""


class Kind(Enum):
    """What a function call is to the planner."""

    SCALAR = "scalar"
    AGGREGATE = "aggregate"
    WINDOW = "window function"
    GENERATOR = "generator"
    GROUPING = "grouping function"
    NONDETERMINISTIC = "nondeterministic function"
    CLOCK = "function of the current time"
    SESSION = "function of the session"
    UNKNOWN = "unknown function"


_KINDS = {
    name: kind
    for kind, names in (
        (Kind.SCALAR, SCALARS),
        (Kind.AGGREGATE, AGGREGATES),
        (Kind.WINDOW, WINDOW_ONLY),
        (Kind.GENERATOR, GENERATORS),
        (Kind.GROUPING, GROUPING),
        (Kind.NONDETERMINISTIC, NONDETERMINISTIC),
        (Kind.CLOCK, CLOCK),
        (Kind.SESSION, SESSION),
    )
    for name in names
}


@dataclass(frozen=True)
class Functions:
    """Spark's built-in functions plus the user-defined ones a model declares."""

    declared_scalars: frozenset[str] = frozenset()
    declared_aggregates: frozenset[str] = frozenset()

    def kind(self, name: str) -> Kind:
        """Classify a call by its name; a declaration overrides nothing that Spark has itself."""
        key = name.lower()
        if key in _KINDS:
            return _KINDS[key]
        if key in self.declared_aggregates:
            return Kind.AGGREGATE
        if key in self.declared_scalars:
            return Kind.SCALAR
        return Kind.UNKNOWN
