"""When a proof of opbench's accounts holds. The accounts themselves are proved by `scripts/prove-measurement`, which CI
runs with a release build."""

from opbench_proofs.accounts import Proof


def test_a_proof_holds_within_its_tolerance_only():
    def proof(reported):
        return Proof("memory", "bytes", reported, 1000, 0.01, "B")

    assert proof(1009).holds and proof(991).holds
    assert not proof(1011).holds and not proof(989).holds
    assert str(proof(1011)).startswith("FAILS  memory: bytes: opbench says 1011 B, the observer 1000 B; 1.100 % apart")
