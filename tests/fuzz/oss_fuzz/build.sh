#!/bin/bash -eu
# Makes a target of each fuzzer of tests/fuzz. $OUT and compile_python_fuzzer are OSS-Fuzz's.
python3 -m pip install ".[all,test]"
for name in readers tables model_files checkpoints stream_lines inputs; do
    target="tests/fuzz/oss_fuzz/fuzz_$name.py"
    printf 'import sys\n\nfrom target import fuzz\n\nfuzz("%s", sys.argv[1:])\n' "$name" >"$target"
    compile_python_fuzzer "$target" --paths tests --hidden-import "fuzz.$name" --add-data tests:tests
done
