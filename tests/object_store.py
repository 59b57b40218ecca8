"""An S3 on a free port of this machine, to read exports from."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

BUCKET = "exports"
KEY, SECRET = "AKIAEXAMPLEEXAMPLE00", "not-a-real-secret-but-long-enough-000000"


@dataclass(frozen=True)
class Store:
    """A running store with one bucket, and what a client needs to find it."""

    address: str

    @property
    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.address, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1",
        }  # fmt: skip

    @property
    def client(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=self.address,
            region_name="us-east-1",
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
        )

    def put(self, key: str, content: bytes) -> str:
        """Put an object; its URL."""
        self.client.put_object(Bucket=BUCKET, Key=key, Body=content)
        return f"s3://{BUCKET}/{key}"

    def delete(self, key: str) -> None:
        self.client.delete_object(Bucket=BUCKET, Key=key)

    def forget(self) -> None:
        """Empty the store, but for one bucket."""
        request = urllib.request.Request(f"{self.address}/moto-api/reset", b"", method="POST")
        urllib.request.urlopen(request).close()
        self.client.create_bucket(Bucket=BUCKET)


@contextmanager
def running() -> Iterator[Store]:
    """A store while the block runs."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield Store(f"http://{host}:{port}")
    finally:
        server.stop()


def find(store: Store, patch: pytest.MonkeyPatch) -> Store:
    """The store, empty, and found by this process and its children."""
    store.forget()
    for name, value in store.environment.items():
        patch.setenv(name, value)
    return store
