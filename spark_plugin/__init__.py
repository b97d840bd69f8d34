"""PySpark operators for cer-gpu. Nothing is provided yet: this package reserves its place."""

if __name__ != "cer_gpu.spark":
    raise ImportError("this folder is installed as `cer_gpu.spark`; write `import cer_gpu.spark`")
