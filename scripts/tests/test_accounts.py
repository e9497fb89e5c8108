"""opbench's accounts of memory and allocations agree with others' of the same processes; the program of the tests."""

import pytest
from conftest import OPBENCH
from opbench_proofs.accounts import PROOFS, Proof, Runs


def test_a_proof_holds_within_its_tolerance_only():
    def proof(reported):
        return Proof("memory", "bytes", reported, 1000, 0.01, "B")

    assert proof(1009).holds and proof(991).holds
    assert not proof(1011).holds and not proof(989).holds
    assert str(proof(1011)).startswith("FAILS  memory: bytes: opbench says 1011 B, the observer 1000 B; 1.100 % apart")


@pytest.mark.parametrize("name", ["memory", "allocations"])
def test_accounts_agree(name, tmp_path):
    if not OPBENCH.exists():
        pytest.skip(f"{OPBENCH} is not built")
    proofs = list(PROOFS[name](Runs(OPBENCH, tmp_path)))
    assert len(proofs) >= 6
    for proof in proofs:
        assert proof.holds, str(proof)
