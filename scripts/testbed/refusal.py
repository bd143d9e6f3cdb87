"""Why nothing was run, in a sentence, and the exit status that says so."""

USAGE = 126
UNAVAILABLE = 77  # Meson counts it as skipped


class Refusal(Exception):
    def __init__(self, sentence, status=UNAVAILABLE):
        super().__init__(sentence)
        self.status = status
