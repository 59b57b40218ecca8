"""What the readers make of captures by real SDKs, against what really went over the wire."""
