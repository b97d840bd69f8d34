from cer_gpu.errors import Diagnostic
def syntax_error(text, tokens, index, expected):
    return Diagnostic("CER001", f"{index} {expected} {tokens.tokens[index:index+1]}")
