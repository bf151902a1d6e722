"""A few seeds of benchmarks/certificates_pca.py: no certificate of PCA, Whitening or IncrementalPCA says what is false."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "certificates_pca.py"


def test_no_statement_is_false():
    spec = importlib.util.spec_from_file_location("certificates_pca", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    study = script.Study()
    for seed in range(32):
        study.run(seed)
    study.run(96, large=True)
    assert not study.false, study.report()
    assert sum(study.fits.values()) > 150, study.report()
