"""What ends `releases`: a line for a person, and an exit status."""


class Fault(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status
