"""The table of configuration keys: the documentation in step with it, and what its values may be."""

import re
from pathlib import Path

import pytest
import spark_sessions
from cer_gpu.spark import settings

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "howto" / "spark-settings.md"
KEYS = [setting.key for setting in settings.SETTINGS]


def test_document_is_in_step():
    assert DOCUMENT.read_text(encoding="utf-8") == settings.PREFACE + settings.rendered(), (
        "run `python -m cer_gpu.spark.settings > docs/howto/spark-settings.md`"
    )


def test_every_setting_of_the_module_is_in_the_table():
    named = [value for value in vars(settings).values() if isinstance(value, settings.Setting)]
    assert sorted(KEYS) == sorted(setting.key for setting in named)
    assert len(set(KEYS)) == len(KEYS)


# Keys of Spark that the recipes name and that this package neither reads nor sets.
OF_THE_RECIPES = {
    "spark.executor.cores",
    "spark.kubernetes.container.image",
    "spark.pyspark.python",
    "spark.worker.resource.gpu.amount",
    "spark.worker.resource.gpu.discoveryScript",
}


def test_the_recipes_name_keys_of_the_table():
    text = DOCUMENT.with_name("spark-clusters.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:--conf |^|`|-D)(spark\.[A-Za-z.]+?)(?=[= `])", text, re.MULTILINE))
    assert settings.TASK_GPUS.key in named
    assert named <= set(KEYS) | OF_THE_RECIPES
    assert f"rapids-4-spark_2.13-{settings.RAPIDS_VERSION}.jar" in text


@pytest.mark.parametrize("setting", settings.SETTINGS, ids=KEYS)
def test_rows_are_whole(setting):
    assert setting.meaning.endswith(".")
    assert "|" not in setting.meaning
    if setting.default is not None:
        settings.parsed(setting, setting.default)
    assert setting.key.startswith("spark.cer.") == (setting.owner == "cer-gpu")
    assert setting.key.startswith("spark.rapids.") == (setting.owner == "RAPIDS")


@pytest.mark.parametrize("text", ["", "on", "Auto", "true"])
def test_a_wrong_gpu_is_told(text):
    with pytest.raises(settings.SettingError, match=r"spark\.cer\.gpu=.*auto, required, off"):
        settings.parsed(settings.GPU, text)


@pytest.mark.parametrize("text", ["", "0", "-5", "1e6", "many"])
def test_a_wrong_number_of_rows_is_told(text):
    with pytest.raises(settings.SettingError, match=r"spark\.cer\.rowsPerTask=.*above 0"):
        settings.parsed(settings.ROWS_PER_TASK, text)


@spark_sessions.GROUP
def test_values_are_read_at_the_call(spark):
    assert settings.value(spark, settings.GPU) == "auto"
    assert settings.value(spark, settings.VERSION) is None
    spark.conf.set(settings.ROWS_PER_TASK.key, "17")
    try:
        assert settings.value(spark, settings.ROWS_PER_TASK) == 17
    finally:
        spark.conf.unset(settings.ROWS_PER_TASK.key)
    assert settings.value(spark, settings.ROWS_PER_TASK) == int(settings.ROWS_PER_TASK.default)


@spark_sessions.GROUP
def test_the_defaults_of_spark_are_its_own(spark):
    for setting in settings.SETTINGS:
        if setting.owner == "Spark" and setting.default is not None:
            assert spark.conf.get(setting.key) == setting.default
