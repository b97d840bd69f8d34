"""What a type checker has to say no to, a line each."""

import cer_gpu as cer

cer.compiel("SELECT * WHERE A")  # attr-defined
cer.compile(3)  # arg-type
cer.compile("SELECT * WHERE A").count([], oder_by="ts")  # call-arg
cer.compile("SELECT * WHERE A").run([], limit="ten")  # arg-type
cer.compile("SELECT * WHERE A").stream(sort=True)  # call-arg
cer.backtest("SELECT * WHERE A", [], limit=3)  # call-arg
text: str = cer.compile("SELECT * WHERE A").count([])  # assignment
