"""Pictures of text."""

from PIL import Image, ImageDraw, ImageFont

LINES = ("The quarry lies north of the river.", "Its limestone is cut by hand since 1871.")


def picture(*lines: str) -> Image.Image:
    page = Image.new("RGB", (900, 400), "white")
    for number, line in enumerate(lines):
        place = (60, 60 + 50 * number)
        ImageDraw.Draw(page).text(place, line, font=ImageFont.load_default(size=30), fill="black")
    return page
