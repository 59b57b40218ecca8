"""From the bytes of an export to records of one shape, whatever wrote them."""
