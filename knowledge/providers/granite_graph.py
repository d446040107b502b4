"""Granite's encoder as an ONNX graph: a RoBERTa of six layers, pooled at its first token.

A change here must raise VERSION in granite_file, or the file built before stays in use.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from knowledge.providers.granite_pack import GROUP, ROUNDED

DIMENSIONS = 384
LAYERS = 6
HEADS = 12
EPSILON = 1e-12
ONNXRUNTIME = "com.microsoft"
INT8_PRODUCTS = 4
"""The runtime's level of accuracy at which a text's values are rounded to int8 as well, by groups.

Vectors then have a cosine of 0.99995 with those of full precision.
"""

LINEAR_SHAPES = {
    "qkv": (3 * DIMENSIONS, DIMENSIONS),
    "ao": (DIMENSIONS, DIMENSIONS),
    "f1": (4 * DIMENSIONS, DIMENSIONS),
    "f2": (DIMENSIONS, 4 * DIMENSIONS),
}
"""How many values each linear step makes of how many."""

# The shapes, positions and axes that nodes take as inputs.
CONSTANTS = {
    "first": [0],
    "second": [1],
    "token_axis": [1],
    "last_axis": [-1],
    "grouped": [0, 0, DIMENSIONS // GROUP, GROUP],
    "ungrouped": [0, 0, DIMENSIONS],
}


def granite_graph(weights: Sequence[TensorProto], metadata: dict[str, str]) -> ModelProto:
    """A model that takes `tokens` (count, length) and gives `vectors` (count, dimensions).

    Texts in one run must be of one length: there is no mask, because one text at a time runs as
    fast as a padded batch and cannot be touched by its neighbours.
    """
    constants = [numpy_helper.from_array(np.array(v), name) for name, v in CONSTANTS.items()]
    graph = helper.make_graph(
        _Encoder().nodes,
        "granite",
        [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["count", "length"])],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["count", DIMENSIONS])],
        [*constants, *weights],
    )
    # Opset 23 is the first with Attention; the IR version is the one that came with it.
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid(ONNXRUNTIME, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=11)
    helper.set_model_props(model, metadata)
    return model


class _Encoder:
    """Lists the nodes in the order they run; each method returns the name of what it computes."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        hidden = self._embeddings()
        for layer in range(LAYERS):
            hidden = self._layer(f"l{layer}", hidden, is_last=layer == LAYERS - 1)
        pooled = self._node("Squeeze", hidden, "token_axis")
        self._node("LpNormalization", pooled, axis=-1, p=2, output="vectors")

    def _embeddings(self) -> str:
        words = self._node("Gather", "words", "tokens")
        words = self._node("Cast", words, to=TensorProto.FLOAT)
        words = self._node("Reshape", words, "grouped")
        scales = self._node("Gather", "word_scales", "tokens")
        scales = self._node("Unsqueeze", scales, "last_axis")
        words = self._node("Mul", words, scales)
        words = self._node("Reshape", words, "ungrouped")
        length = self._node("Shape", "tokens", start=1)
        positions = self._node("Slice", "positions", "first", length)
        return self._norm("emb_ln", self._node("Add", words, positions))

    def _layer(self, name: str, hidden: str, *, is_last: bool) -> str:
        queries, keys, values = self._split_in_three(self._linear(f"{name}.qkv", hidden))
        if is_last:
            # Only the first token is pooled, so the last layer need not compute the others.
            queries, hidden = self._first_token(queries), self._first_token(hidden)
        attended = self._node(
            "Attention", queries, keys, values, q_num_heads=HEADS, kv_num_heads=HEADS
        )
        attended = self._linear(f"{name}.ao", attended)
        hidden = self._norm(f"{name}.aln", self._node("Add", hidden, attended))
        fed = self._node("Gelu", self._linear(f"{name}.f1", hidden))
        fed = self._linear(f"{name}.f2", fed)
        return self._norm(f"{name}.fln", self._node("Add", hidden, fed))

    def _linear(self, name: str, hidden: str) -> str:
        rows, columns = LINEAR_SHAPES[name.rpartition(".")[2]]
        return self._node(
            "MatMulNBits",
            *(hidden, f"{name}.w", f"{name}.w_scales", "", "", f"{name}.b"),
            domain=ONNXRUNTIME,
            K=columns,
            N=rows,
            bits=8,
            block_size=ROUNDED,
            accuracy_level=INT8_PRODUCTS,
        )

    def _norm(self, name: str, hidden: str) -> str:
        return self._node("LayerNormalization", hidden, f"{name}.w", f"{name}.b", epsilon=EPSILON)

    def _first_token(self, hidden: str) -> str:
        return self._node("Slice", hidden, "first", "second", "token_axis")

    def _split_in_three(self, hidden: str) -> list[str]:
        parts = [f"{hidden}.{part}" for part in ("queries", "keys", "values")]
        self.nodes.append(helper.make_node("Split", [hidden], parts, axis=-1, num_outputs=3))
        return parts

    def _node(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"{operator}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output
