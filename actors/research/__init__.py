"""The research family: plan, search, read, analyse, report, in rounds that go deeper."""
