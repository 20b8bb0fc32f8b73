"""The demo shows tickets and a research over the documents that ship with the project, and leaves nothing behind."""

from tests.runtime.cli.commands.program import Place


def test_the_demo_shows_tickets_and_a_research(place: Place) -> None:
    done = place.run("demo")

    assert done.status == 0
    assert "Suggested: nobody has confirmed" in done.out
    assert "Answered as an earlier ticket was." in done.out
    assert "Not found in the sources" in done.out
    assert "\n# What are the limits of the VPN" in done.out
    assert "working-from-home.md" in done.out
    assert "The web desktop has no microphone and no camera" in done.out
    assert "[Depth 1/2] Exploring: What are the limits" in done.err
    assert done.out.rstrip().splitlines()[-4].startswith("Closed by reporter after ")
    assert done.out.rstrip().splitlines()[-1].startswith("Now with your own documents: ")
    assert list(place.folder.iterdir()) == []
