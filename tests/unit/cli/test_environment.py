from services.cli.stack.environment import differing, fingerprints

STARTED = {"ATTEST_HTTP_PORT": "9080", "ATTEST_EMBEDDING_API_KEY": "secret", "ATTEST_HOME": "/srv/a", "PATH": "/bin"}


def test_only_settings_of_the_stack_count_and_no_value_is_kept() -> None:
    kept = fingerprints({**STARTED, "ATTEST_OWNER_DSN": "x", "ATTEST_GUARD": ""})

    assert sorted(kept) == ["ATTEST_EMBEDDING_API_KEY", "ATTEST_HTTP_PORT"]
    assert "secret" not in str(kept)


def test_what_was_changed_added_or_left_out_differs() -> None:
    now = {"ATTEST_HTTP_PORT": "9081", "ATTEST_GUARD": "block", "ATTEST_HOME": "/srv/b"}

    assert differing(fingerprints(STARTED), now) == ["ATTEST_EMBEDDING_API_KEY", "ATTEST_GUARD", "ATTEST_HTTP_PORT"]
    assert differing(fingerprints(STARTED), {**STARTED, "ATTEST_GUARD": ""}) == []
