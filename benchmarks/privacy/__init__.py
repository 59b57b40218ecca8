"""How well personal data is found and replaced, with figures that anybody can make again."""
