# SPDX-License-Identifier: MIT
"""speedscope's page, as npm has it, in Chromium: what it makes of a file, and a picture of it."""
import base64
import os

from support.cases import expect

# Pictures in the text of buttons need a font that few machines have.
NO_PICTURES = rb"""
new MutationObserver(() => document.querySelectorAll("span").forEach((one) => {
    if (/^\p{Extended_Pictographic}\ufe0f?$/u.test(one.textContent.trim())) {
        one.textContent = "";
    }
})).observe(document.body, {childList: true, subtree: true});
"""
PAGE = "/usr/local/lib/node_modules/speedscope/dist/release/index.html"


def show(ctx, content, view, *options, seconds=10):
    """What Chromium prints of the page with this file, after so much of the page's own time."""
    expect(os.path.exists(PAGE), f"{PAGE} does not exist: make deps")
    # As speedscope's own command hands over a file.
    script = ctx.dir / "load.js"
    script.write_bytes(NO_PICTURES + b'speedscope.loadFileFromBase64("run", "%s")' % base64.b64encode(content))
    return ctx.run("chromium", "--headless", "--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader",
                   "--run-all-compositor-stages-before-draw", f"--virtual-time-budget={seconds}000", *options,
                   f"file://{PAGE}#localProfilePath={script}&view={view}", env={"HOME": str(ctx.dir)}).stdout


def draw(ctx, content, name, height):
    """How many colours the page draws the file with; the picture is kept under this name."""
    picture = ctx.dir / f"{name}.png"
    for seconds in (10, 100, 1000):
        show(ctx, content, "time-ordered", f"--window-size=1200,{height}", f"--screenshot={picture}", seconds=seconds)
        drawn = ctx.run("convert", picture, "-crop", f"1200x{height - 130}+0+130", "-format", "%k", "info:").stdout
        colours = int(drawn)
        if colours >= 6:
            break
    ctx.picture(picture, name)
    return colours
