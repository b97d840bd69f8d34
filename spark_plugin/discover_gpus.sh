#!/bin/sh
# Tells Spark which GPUs this machine has: the indices that nvidia-smi prints, as one JSON object.
found=$(nvidia-smi --query-gpu=index --format=csv,noheader | sed 's/[^0-9]//g; s/.*/"&"/' | paste -s -d , -)
echo "{\"name\": \"gpu\", \"addresses\": [$found]}"
