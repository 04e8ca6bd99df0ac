"""Directories of Hugging Face models of a few numbers, with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ENDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
LETTERS = "abcdefghijklmnopqrstuvwxyz.,!?'-"
SHAPE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
WINDOW = 24


def make_bert(directory: Path, **changes: Any) -> Path:
    """Save a BERT whose subwords are letters, common pairs of letters and a few words, with a card and a licence."""
    import torch
    from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordPiece
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    pairs = ["##ed", "##ing", "##er", "the", "fox", "bread"]
    subwords = [*ENDS, *LETTERS, *(f"##{letter}" for letter in LETTERS), *pairs]
    vocabulary = {subword: number for number, subword in enumerate(subwords)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special)
    tokenizer.enable_padding(length=8)  # as the tokenizers of sentence encoders do
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), ENDS, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(directory)
    config = BertConfig(vocab_size=len(subwords), max_position_embeddings=WINDOW, **(SHAPE | changes))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        BertModel(config).save_pretrained(directory)
    (directory / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\n# Tiny\n", encoding="utf-8")
    return directory


def make_roberta(directory: Path) -> Path:
    """Save a RoBERTa, which counts positions from that of the padding on and whose subwords are bytes."""
    import torch
    from tokenizers import Tokenizer, decoders, pre_tokenizers, processors
    from tokenizers.models import BPE
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

    names = ["<s>", "<pad>", "</s>", "<unk>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    vocabulary = {name: number for number, name in enumerate(names)}
    tokenizer = Tokenizer(BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    special = dict(zip(("cls_token", "pad_token", "sep_token", "unk_token"), names, strict=False))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(directory)
    config = RobertaConfig(vocab_size=len(names), max_position_embeddings=WINDOW + 2, type_vocab_size=1, **SHAPE)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        RobertaModel(config).save_pretrained(directory)
    return directory
