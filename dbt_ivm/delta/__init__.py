"""Delta rules, one file per operator family, and the restriction to touched keys."""

from dbt_ivm.delta import bilinear as bilinear
from dbt_ivm.delta import keywise as keywise
from dbt_ivm.delta import linear as linear
from dbt_ivm.delta import matching as matching
from dbt_ivm.delta.rules import Changes as Changes
from dbt_ivm.delta.rules import delta as delta
from dbt_ivm.delta.rules import new as new
from dbt_ivm.delta.rules import old as old
