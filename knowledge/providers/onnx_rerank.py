"""A cross-encoder in ONNX, given as a folder, run in a child process that can be killed."""

import logging
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np
from django.core.exceptions import ImproperlyConfigured

from knowledge.errors import ProviderUnavailable
from knowledge.sources.parsers.frames import Frame
from knowledge.sources.readers import Readers

logger = logging.getLogger(__name__)

TOKENIZER = "tokenizer.json"
MODELS = ("model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx")
LOADING_SEC = 120.0
IDLE_SEC = 24 * 3600.0
MOST_TOKENS = 512


class OnnxReranker:
    """Loads its model in the background when it is told to, and again when a call was killed."""

    usual_sec = 1.0

    def __init__(self, folder: Path) -> None:
        """Refuse a folder without what a cross-encoder consists of."""
        self.name = folder.name
        models = [folder / name for name in MODELS if (folder / name).is_file()]
        if not models or not (folder / TOKENIZER).is_file():
            raise ImproperlyConfigured(
                f"The folder {folder} of QUARRY_RERANKER must hold {TOKENIZER} and model.onnx."
            )
        self._files = {
            "model": str(models[0].resolve()),
            "tokenizer": str((folder / TOKENIZER).resolve()),
        }
        self._readers = Readers(1, idle_seconds=IDLE_SEC)
        self._changing = Lock()
        self._loading: Thread | None = None
        self._is_ready = False

    def relevance(self, question: str, texts: Sequence[str], *, seconds: float) -> Sequence[float]:
        """Between 0 and 1 for each text; the child is killed when it takes longer."""
        if not self._is_ready:
            self.begin_loading()
            message = f"The reranker {self.name} is being loaded, or cannot be: see the log."
            raise ProviderUnavailable(message, may_pass=True)
        try:
            scores = self._call(question, texts, seconds=seconds)
        except ProviderUnavailable as error:
            if "reason" in error.details:  # its process ended
                self._is_ready = False
                self.begin_loading()
            raise ProviderUnavailable(
                f"The reranker {self.name} did not answer within {seconds:g} seconds.",
                may_pass=True,
            ) from error
        if len(scores) != len(texts) or not np.isfinite(scores).all():
            raise ProviderUnavailable(f"The reranker {self.name} is no cross-encoder.")
        return [float(score) for score in scores]

    def load(self) -> None:
        """Have the model in its process before it is needed; the log says if it cannot be."""
        if not self._is_ready:
            self.begin_loading().join()

    def begin_loading(self) -> Thread:
        """Begin to load the model, unless that is under way."""
        with self._changing:
            if self._loading is None or not self._loading.is_alive():
                self._loading = Thread(target=self._load, daemon=True, name="load-reranker")
                self._loading.start()
            return self._loading

    def close(self) -> None:
        self._readers.close()

    def _load(self) -> None:
        try:
            self._call("What is hard?", ["Granite is hard."], seconds=LOADING_SEC)
            self._is_ready = True
        except (ProviderUnavailable, ValueError):  # the latter if it was closed meanwhile
            logger.warning("The reranker %s cannot be loaded", self.name, exc_info=True)

    def _call(self, question: str, texts: Sequence[str], *, seconds: float) -> Any:
        request = {**self._files, "question": question, "texts": list(texts)}
        given = self._readers.call(f"{__name__}:score_in_reader", request, seconds=seconds)
        return np.frombuffer(given.blobs[0], np.float32)


def score_in_reader(asked: Frame) -> Frame:
    """The scores of texts, in a reader process."""
    tokenizer, session = _load_model(asked.value["tokenizer"], asked.value["model"])
    question = asked.value["question"].encode(errors="replace").decode()
    texts = [text.encode(errors="replace").decode() for text in asked.value["texts"]]
    encoded = tokenizer.encode_batch([(question, text) for text in texts])
    columns = {
        "input_ids": [each.ids for each in encoded],
        "attention_mask": [each.attention_mask for each in encoded],
        "token_type_ids": [each.type_ids for each in encoded],
    }
    wanted = {each.name for each in session.get_inputs()}
    given = {name: np.array(rows, np.int64) for name, rows in columns.items() if name in wanted}
    logits = np.asarray(session.run(None, given)[0], np.float32).reshape(len(texts), -1)
    # One logit says how relevant; of two, the second one does.
    logit = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
    scores = 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
    return Frame(None, (scores.astype(np.float32).tobytes(),))


@cache
def _load_model(tokenizer_file: str, model_file: str) -> tuple[Any, Any]:
    import onnxruntime  # type: ignore[import-untyped]
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(tokenizer_file)
    tokenizer.enable_truncation(MOST_TOKENS, strategy="only_second")
    tokenizer.enable_padding()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return tokenizer, onnxruntime.InferenceSession(
        model_file, options, providers=["CPUExecutionProvider"]
    )
