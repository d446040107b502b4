"""What the operator says that models cost."""


def parse_prices(text: str) -> dict[str, tuple[float, float]]:
    """`gpt-5-mini=0.25/2, bge-m3=0`: US dollars for a million tokens read, and written."""
    prices = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        model, _, price = part.partition("=")
        read, _, written = price.partition("/")
        try:
            prices[model.strip()] = (float(read), float(written or 0))
        except ValueError:
            raise ValueError(f"{part!r} is not of the form model=read/written") from None
        if min(prices[model.strip()]) < 0 or not model.strip():
            raise ValueError(f"{part!r} is not of the form model=read/written")
    return prices
