"""How good the server finds a skill or unit, factor by factor."""

from collections.abc import Iterator

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from knowledge.admin.tables import facts, moment, readable, table, words_of_name
from knowledge.models import Item, Quality

_ORDER = ("prior_strength", "valid", "not_valid", "weight_for", "weight_against")


def quality_table(item: Item) -> SafeString:
    """Each factor with its weight and share; the shares add up to what stands below them."""
    quality = Quality.objects.filter(item=item).first()
    if quality is None:
        return format_html("<p>{}</p>", "No score. Only skills and units are scored.")
    return format_html("{}{}", _factors(quality), _validation_facts(quality))


def _factors(quality: Quality) -> SafeString:
    headings = ["Factor", "Value", "Weight", "Share", "Reason"]
    return table(headings, _rows(quality), empty="No factors.")


def _rows(quality: Quality) -> Iterator[list[str]]:
    """Rounded as they are summed, so that the shares that are shown add up."""
    total = shown = 0.0
    for name, factor in quality.factors.items():
        total += factor["share"]
        share, shown = round(total, 3) - shown, round(total, 3)
        numbers = [factor["value"], factor["weight"], share]
        yield [name, *(f"{number:.3f}" for number in numbers), factor.get("because", "")]
    yield ["Together", "", "", f"{quality.intrinsic:.3f}", ""]


def _validation_facts(quality: Quality) -> SafeString:
    """What validations made of the sum."""
    parts = sorted(quality.validations.items(), key=_in_order)
    told = [
        ("Weights", quality.profile),
        *((capfirst(words_of_name(name)), readable(part)) for name, part in parts),
        ("Score", f"{quality.score:.3f}"),
        ("Computed", moment(quality.computed_at)),
    ]
    return facts(told, empty="")


def _in_order(named: tuple[str, object]) -> int:
    return _ORDER.index(named[0]) if named[0] in _ORDER else len(_ORDER)
