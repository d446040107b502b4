"""Pages as they are found on the web, and a place to serve them from."""

from pytest_httpserver import HTTPServer

NAVIGATION = "".join(f"<li><a href='/m{n}'>module {n}</a></li>" for n in range(60))
ARTICLE = """<!doctype html><html lang="en-GB"><head><meta charset="utf-8">
<title>How rivers carve stone | Geology Weekly</title>
<meta name="author" content="Ada Fielding">
<meta property="og:title" content="How rivers carve stone">
<meta property="article:published_time" content="2024-03-05T10:00:00+01:00">
<link rel="canonical" href="https://victim.example/other">
</head><body><header><nav><ul><li><a href="/">Home</a></li></ul></nav></header>
<main><article><h1>How rivers carve stone</h1>
<p>Rivers carve stone by carrying sediment, and the sediment does the cutting over many thousands
of years of patient work. The process is <strong>slow</strong> but <a href="/sure">very sure</a>.
</p><h2>Three ways to cut</h2><p>There are three ways in which running water takes rock away, and
all of them matter in the mountains of the north.</p>
<ul><li>Abrasion by pebbles</li><li>Plucking of blocks</li><li>Solution of limestone</li></ul>
<h3>Rates</h3><table><thead><tr><th>Rock</th><th>mm per year</th></tr></thead>
<tbody><tr><td>Granite</td><td>0.005</td></tr><tr><td>Limestone</td><td>0.08</td></tr></tbody>
</table><p>A small model, in code, shows how the two rates add up when the river crosses from the
one rock to the other one:</p><pre><code>def cut(years, rate):
    return years * rate

print(cut(1000, 0.08))
</code></pre><p>So the next time that you stand at a gorge, think of the pebbles that you cannot
see, and of the time they had. Use <code>cut()</code> to count it.</p></article></main>
<aside><h3>Related</h3><a href="/x">Ten best lakes</a></aside><footer>Cookie settings.</footer>
<script>var a = 1;</script></body></html>"""
SHORT = """<html><head><title>Example Domain</title></head><body><div><h1>Example Domain</h1>
<p>This domain is for use in documentation examples.</p></div></body></html>"""
DOCUMENTATION = f"""<!doctype html><html lang="en"><head><title>dumps — Widgets 3</title></head>
<body><div class="sidebar"><ul>{NAVIGATION}</ul></div><div class="body" role="main"><section>
<h1>widgets.dumps<a class="headerlink" href="#x">¶</a></h1><dl><dt><code>dumps</code>(<em>obj</em>)
</dt><dd><p>Serialise obj.</p><table><tr><th>Option</th><th>Meaning</th></tr><tr><td>indent</td>
<td>spaces per level</td></tr></table><div class="highlight"><pre><span>import</span> widgets

<span>widgets</span>.dumps(<span>1</span>)
</pre></div></dd></dl></section></div></body></html>"""
SCRIPTED = """<!doctype html><html><head><title>App</title><script src="/app.js"></script></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>
</body></html>"""
LOGIN = """<!doctype html><html><head><title>Sign in</title></head><body><h1>Sign in</h1><form>
<input name="user"><input type="password" name="password"></form><p>Forgot it?</p></body></html>"""
CHALLENGE = """<!doctype html><html><head><title>Just a moment...</title></head><body>
<h1>example.com</h1><p>Verifying you are human. This may take a few seconds.</p></body></html>"""


def serve_page(site: HTTPServer, path: str, html: str) -> str:
    """Serves a page, and gives its address."""
    site.expect_request(path).respond_with_data(html, content_type="text/html; charset=utf-8")
    return str(site.url_for(path))
