"""Many queries over history in one pass: `backtest`, the variants of a template (`sweep`), and the result."""
