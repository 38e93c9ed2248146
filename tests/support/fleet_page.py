# SPDX-License-Identifier: MIT
"""The page that `remora fleet report` writes: made, unpacked without its own code, and what it is compared with."""
import base64
import json
import re
import zlib


def page_of(ctx, place, *options, name="fleet.html"):
    ctx.remora("fleet", "report", place, "-o", ctx.dir / name, *options)
    return ctx.dir / name


def block_of(page):
    packed = re.search(r'<script type="application/x-remora-trace" class="fleet">([^<]*)</script>',
                       page.read_text(encoding="utf-8")).group(1)
    return json.loads(zlib.decompress(base64.b64decode(packed, validate=True), wbits=-15))


def asked(ctx, question, place, *options):
    """The rows of an answer."""
    done = ctx.remora("fleet", question, place, "--json", "--limit", "0", *options, codes=(0, 2, 6))
    return json.loads(done.stdout)[{"verify": "runs"}.get(question, question)]


def rows_of(table):
    """Columns as rows."""
    columns = [name for name, values in table.items() if isinstance(values, list)]
    return [dict(zip(columns, values)) for values in zip(*(table[name] for name in columns))]
