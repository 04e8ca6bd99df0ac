"""Parsing with Ray Data while a machine of the cluster dies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")

import easyfirst  # noqa: E402
from tests.integrations.corpora import expected, save_text_model, texts  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


def test_a_raylet_that_dies_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """The results that are lost with the raylet are computed again."""
    from ray.cluster_utils import Cluster

    model = save_text_model(tmp_path / "model")
    given = {f"{number:06}": text for number, text in enumerate(texts(1000, words=60))}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    dying = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    try:
        items = [{"id": name, "text": text} for name, text in given.items()]
        dataset = ray.data.from_items(items, override_num_blocks=40)
        result = easyfirst.ray.parse(dataset, id_column="id", model=model, texts_at_once=10)
        rows: list[dict[str, Any]] = []
        for number, batch in enumerate(result.iter_batches(batch_size=None, batch_format="pyarrow")):
            rows += batch.to_pylist()
            if number == 2:
                cluster.remove_node(dying, allow_graceful=False)
        assert number > 10
        assert len(cluster.list_all_nodes()) == 1
    finally:
        ray.shutdown()
        cluster.shutdown()
    rows.sort(key=lambda row: (row["doc_id"], row["sentence"]))
    assert rows == expected(model, given)
