"""PTX, the assembler language of CUDA, to LLVM IR for the host."""
