"""Parameters and fields that several operations share."""

from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel

LIMIT_MAX = 1000

QueueName = Annotated[str, Path(description="The queue's name, percent-encoded.", examples=["orders"], max_length=4096)]
Limit = Annotated[int, Query(ge=1, le=LIMIT_MAX, description="Maximum number of results.")]
Offset = Annotated[int, Query(ge=0, le=1 << 40, description="Number of results to skip.")]


class Page(BaseModel):
    """Some of the results, and the number of all of them."""

    total: int
    offset: int
    limit: int
