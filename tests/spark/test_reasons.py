"""Out of two screens of stack trace, the line that says what is wrong."""

import pytest

pytest.importorskip("pyspark")

from penstock.spark.pipelines.job import reason_of

OURS = """[STREAM_FAILED] Query [id = 1] terminated with exception: Traceback (most recent call last):
  File "source.py", line 1, in partitions
penstock.spark.source.DataLoss: offsets 0 to 9 are no longer in the log

\tat org.apache.spark.Something(Some.scala:1)
"""
PYTHONS = """[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred. Traceback (most recent call last):
  File "x.py", line 1
py4j.protocol.Py4JJavaError: An error occurred while calling o1.parquet.
ModuleNotFoundError: No module named 'somewhere'
\tat org.apache.spark.Something(Some.scala:1)
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (OURS, "offsets 0 to 9 are no longer in the log"),
        (PYTHONS, "ModuleNotFoundError: No module named 'somewhere'"),
        ("[TABLE_NOT_FOUND] no such table\n; line 1 pos 3", "[TABLE_NOT_FOUND] no such table"),
    ],
)
def test_the_reason_is_found(text, reason) -> None:
    assert reason_of(RuntimeError(text)) == reason
