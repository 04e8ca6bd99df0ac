#!/usr/bin/env bash
# Build the package of the model `pt`: bash bench/portuguese.sh TREEBANK WORK
#   TREEBANK  the folder of UD_Portuguese-Bosque (CC BY-SA 4.0), with LICENSE.txt
#   WORK      the folder for the training run and the wheel; an interrupted run resumes
# The pipeline is trained by the default command and nothing else. The wheel is not part of the repository; its card is.
set -euo pipefail
treebank=$1 work=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
train=$treebank/pt_bosque-ud-train.conllu dev=$treebank/pt_bosque-ud-dev.conllu test=$treebank/pt_bosque-ud-test.conllu
licence="CC BY-SA 4.0 (trained on UD_Portuguese-Bosque, CC BY-SA 4.0)"
out=$work/training/pt packed=$work/pt resume=()

if [[ -d $out/training ]]; then resume=(--resume); fi
easyfirst train "$train" --dev "$dev" --out "$out" --parts all --licence "$licence" "${resume[@]}"
easyfirst pack "$out" --out "$packed" --bits 8 --overwrite
cp "$treebank/LICENSE.txt" "$packed/LICENSE"
export PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH}
python -m bench.bundled --model "$packed" --dev "$dev" --test "$test" --full "$out" --name portuguese --write-card
cp "$packed/README.md" "$here/bench/results/portuguese-card.md"
easyfirst package "$packed" --name pt --language pt --out "$work/dist" --overwrite
