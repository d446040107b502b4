"""Cross-encoders of a few bytes: one counts a word, the other never ends."""

from pathlib import Path

import onnx
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

WORD = "granite"


def write_cross_encoder(folder: Path, *, is_endless: bool = False) -> Path:
    """A folder as `QUARRY_RERANKER=onnx:` takes it."""
    folder.mkdir(parents=True)
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, WORD: 1}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "length"])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 1])
    nodes = [
        helper.make_node("Equal", ["input_ids", "word"], ["is_word"]),
        helper.make_node("Cast", ["is_word"], ["ones"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["ones", "last"], ["counted"], keepdims=1),
    ]
    constants = [
        helper.make_tensor("word", TensorProto.INT64, [], [1]),
        helper.make_tensor("last", TensorProto.INT64, [1], [1]),
        helper.make_tensor("often", TensorProto.INT64, [], [10**12]),
        helper.make_tensor("always", TensorProto.BOOL, [], [True]),
    ]
    if is_endless:
        loop = ["often", "always", "counted"]
        nodes.append(helper.make_node("Loop", loop, ["logits"], body=_body()))
    else:
        nodes.append(helper.make_node("Identity", ["counted"], ["logits"]))
    graph = helper.make_graph(nodes, "cross-encoder", [ids], [logits], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    return folder


def _body() -> onnx.GraphProto:
    value = helper.make_tensor_value_info
    return helper.make_graph(
        [
            helper.make_node("Identity", ["goes_on"], ["still"]),
            helper.make_node("Identity", ["before"], ["after"]),
        ],
        "again",
        [
            value("turn", TensorProto.INT64, []),
            value("goes_on", TensorProto.BOOL, []),
            value("before", TensorProto.FLOAT, ["n", 1]),
        ],
        [value("still", TensorProto.BOOL, []), value("after", TensorProto.FLOAT, ["n", 1])],
    )
